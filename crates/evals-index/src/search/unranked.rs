use std::time::Instant;

use arrow::array::AsArray;
use arrow::datatypes::UInt64Type;
use futures::TryStreamExt;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use lancedb::table::Table;

use super::leg::LegResult;
use super::{Filter, Hit};
use crate::positions::Positions;
use crate::table::ROW_ID;
use crate::{EngineError, IndexError};

/// The first `depth` documents that pass the filter, each with its first chunk and the score 1/rank.
pub(super) async fn search(
    table: &Table,
    positions: &Positions,
    filter: &Filter,
    depth: usize,
) -> Result<LegResult, IndexError> {
    let started = Instant::now();
    let documents: Vec<usize> = match filter.sql() {
        Some(_) => filtered(table, positions, filter, depth).await?,
        None => (0..positions.documents().min(depth)).collect(),
    };
    let hits = (1_u16..)
        .map(f32::from)
        .zip(&documents)
        .map(|(rank, document)| Hit::new(positions.first_chunk(*document), 1.0 / rank))
        .collect();
    Ok(LegResult {
        hits,
        exhausted: documents.len() < depth,
        duration: started.elapsed(),
    })
}

/// Reads the table in its order until enough documents have passed.
async fn filtered(
    table: &Table,
    positions: &Positions,
    filter: &Filter,
    depth: usize,
) -> Result<Vec<usize>, IndexError> {
    let failed = EngineError::during("read the documents that pass the filter");
    let query = table.query().select(Select::columns(&[ROW_ID]));
    let mut rows = filter.restrict(query).execute().await.map_err(&failed)?;
    let mut documents = Vec::new();
    while let Some(batch) = rows.try_next().await.map_err(&failed)? {
        for row_id in batch[ROW_ID].as_primitive::<UInt64Type>().values() {
            let position = positions
                .position(*row_id)
                .ok_or(IndexError::Changed { row_id: *row_id })?;
            documents.push(positions.document(position));
        }
        // The rows of a document pass or fail together, and lie side by side.
        documents.dedup();
        if documents.len() > depth {
            break;
        }
    }
    documents.truncate(depth);
    Ok(documents)
}
