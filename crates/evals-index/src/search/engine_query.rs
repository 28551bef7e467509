//! The two queries that profiles send to the engine: full-text search, and approximate search for the nearest vectors.

use arrow::array::AsArray;
use arrow::datatypes::{Float32Type, UInt64Type};
use futures::TryStreamExt;
use lancedb::arrow::SendableRecordBatchStream;
use lancedb::index::scalar::FullTextSearchQuery;
use lancedb::query::{ExecutableQuery, QueryBase, QueryExecutionOptions, Select};
use lancedb::table::Table;

use super::Filter;
use super::hit::Hit;
use crate::error::IndexError;
use crate::table::positions::Positions;
use crate::table::vector_index::{self, DISTANCE};
use crate::table::{ROW_ID, TEXT};
use crate::vector_table::VectorTable;

/// The engine's name for the BM25 score.
pub(crate) const SCORE: &str = "_score";

/// Bytes of vectors in one batch of the scan. The engine's default is 1,024 rows of any size, which allocates and sorts more often.
const BATCH_BYTES: usize = 4 << 20;
/// Fewest rows in one batch of the scan: the engine's default.
const LEAST_BATCH_ROWS: usize = 1024;

/// The `limit` best chunks of the full-text index, in no particular order. The question is a bag of words: its punctuation has no
/// meaning to the engine.
pub(super) async fn best_by_text(
    table: &Table,
    positions: &Positions,
    filter: &Filter,
    question: &str,
    limit: usize,
) -> Result<Vec<Hit>, IndexError> {
    let failed = IndexError::during("search the full-text index");
    let query = FullTextSearchQuery::new(question.to_owned())
        .with_column(TEXT.to_owned())
        .map_err(|source| failed(source.into()))?;
    let query = table
        .query()
        .full_text_search(query)
        .select(Select::columns(&[ROW_ID, SCORE]))
        .limit(limit);
    let rows = filter.restrict(query).execute().await.map_err(failed)?;
    let position = |row_id| positions.position(row_id);
    read_hits(rows, SCORE, position, Hit::new).await
}

/// The `limit` chunks most similar to `vector` among those that the index of the vectors finds.
pub(super) async fn best_by_vector(
    index: &VectorTable,
    positions: &Positions,
    filter: &Filter,
    vector: &[f32],
    limit: usize,
) -> Result<Vec<Hit>, IndexError> {
    let query = vector_index::query(&index.table, vector, limit, Some(&index.search))?;
    let rows = filter
        .restrict(query)
        .execute_with_options(options(vector.len()))
        .await
        .map_err(IndexError::during("search the embeddings"))?;
    let position = |row_id| positions.position(row_id);
    read_hits(rows, DISTANCE, position, Hit::of_distance).await
}

/// Enlarges the batches of the scan. `dimension` is at least 1.
pub(crate) fn options(dimension: usize) -> QueryExecutionOptions {
    let rows = (BATCH_BYTES / size_of::<f32>() / dimension).max(LEAST_BATCH_ROWS);
    let mut options = QueryExecutionOptions::default();
    options.max_batch_length = u32::try_from(rows).unwrap_or(u32::MAX);
    options
}

/// Reads row ids and the numbers in `column`. `position` returns the place of a row, and `hit` turns both into what was found.
pub(crate) async fn read_hits(
    mut rows: SendableRecordBatchStream,
    column: &str,
    position: impl Fn(u64) -> Option<usize>,
    hit: impl Fn(usize, f32) -> Hit,
) -> Result<Vec<Hit>, IndexError> {
    let mut hits = Vec::new();
    while let Some(batch) = rows
        .try_next()
        .await
        .map_err(IndexError::during("read search results"))?
    {
        let row_ids = batch[ROW_ID].as_primitive::<UInt64Type>();
        let numbers = batch[column].as_primitive::<Float32Type>();
        for (row_id, number) in row_ids.values().iter().zip(numbers.values()) {
            let position = position(*row_id).ok_or(IndexError::Changed { row_id: *row_id })?;
            hits.push(hit(position, *number));
        }
    }
    Ok(hits)
}
