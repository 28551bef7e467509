use lancedb::DistanceType;
use lancedb::query::{ExecutableQuery, QueryBase, QueryExecutionOptions, Select};
use lancedb::table::Table;

use super::{Filter, Hit, scored_rows};
use crate::positions::Positions;
use crate::table::{ROW_ID, VECTOR};
use crate::{EngineError, IndexError};

/// The engine's name for the distance of a row's vector.
const DISTANCE: &str = "_distance";

/// Bytes of vectors that the scan takes at a time. The engine's default of 1,024 rows, whatever their size, allocates and sorts
/// more often.
const BATCH_BYTES: usize = 4 << 20;
/// Least rows that the scan takes at a time: the engine's default.
const LEAST_BATCH_ROWS: usize = 1024;

/// Compares `vector` with every embedding of the table and returns the `limit` most similar chunks.
pub(super) async fn fetch(
    table: &Table,
    positions: &Positions,
    filter: &Filter,
    vector: &[f32],
    limit: usize,
) -> Result<Vec<Hit>, IndexError> {
    let failed = EngineError::during("search the embeddings");
    let query = table
        .query()
        .nearest_to(vector)
        .map_err(&failed)?
        .column(VECTOR)
        .distance_type(DistanceType::Cosine)
        .bypass_vector_index()
        .select(Select::columns(&[ROW_ID, DISTANCE]))
        .limit(limit);
    let rows = filter
        .restrict(query)
        .execute_with_options(options(vector.len()))
        .await
        .map_err(failed)?;
    scored_rows::read(rows, DISTANCE, positions, |distance| 1.0 - distance).await
}

/// Larger batches of the scan. `dimension` is at least 1.
fn options(dimension: usize) -> QueryExecutionOptions {
    let rows = (BATCH_BYTES / size_of::<f32>() / dimension).max(LEAST_BATCH_ROWS);
    let mut options = QueryExecutionOptions::default();
    options.max_batch_length = u32::try_from(rows).unwrap_or(u32::MAX);
    options
}
