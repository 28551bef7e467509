use lancedb::DistanceType;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use lancedb::table::Table;

use super::{Filter, Hit, scored_rows};
use crate::positions::Positions;
use crate::table::{ROW_ID, VECTOR};
use crate::{EngineError, IndexError};

/// The engine's name for the distance of a row's vector.
const DISTANCE: &str = "_distance";

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
    let rows = filter.restrict(query).execute().await.map_err(failed)?;
    scored_rows::read(rows, DISTANCE, positions, |distance| 1.0 - distance).await
}
