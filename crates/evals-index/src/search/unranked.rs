//! The ranking that ignores the question: the documents in the order of the index.

use std::time::Instant;

use arrow::array::AsArray;
use arrow::datatypes::UInt64Type;
use futures::TryStreamExt;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use lancedb::table::Table;

use super::Filter;
use super::hit::{FoundChunks, Hit};
use crate::error::IndexError;
use crate::table::ROW_ID;
use crate::table::positions::Positions;

/// The first `depth` documents that pass the filter, each with its first chunk and a score that falls with the rank.
pub(super) async fn search(
    table: &Table,
    positions: &Positions,
    filter: &Filter,
    depth: usize,
) -> Result<FoundChunks, IndexError> {
    let started = Instant::now();
    let documents: Vec<usize> = match filter.sql() {
        Some(_) => filtered(table, positions, filter, depth).await?,
        None => (0..positions.documents().min(depth)).collect(),
    };
    let hits = documents
        .iter()
        .zip(scores())
        .map(|(document, score)| Hit::new(positions.first_chunk(*document), score))
        .collect();
    Ok(FoundChunks {
        hits,
        exhausted: documents.len() < depth,
        duration: Some(started.elapsed()),
    })
}

/// 1/rank in single precision, or the next smaller number if 1/rank rounds to the score before. No two scores are equal for up to a
/// thousand million documents, as many as there are numbers between 0 and 1. Up to rank 8,000,000, each score is 1/rank itself.
fn scores() -> impl Iterator<Item = f32> {
    let mut before = f32::INFINITY;
    (1_u32..).map(move |rank| {
        before = before.next_down().min(reciprocal(rank));
        before
    })
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rankings hold scores in single precision"
)]
fn reciprocal(rank: u32) -> f32 {
    (1.0 / f64::from(rank)) as f32
}

/// Reads the table in its order until enough documents have passed.
async fn filtered(
    table: &Table,
    positions: &Positions,
    filter: &Filter,
    depth: usize,
) -> Result<Vec<usize>, IndexError> {
    let failed = IndexError::during("read the documents that pass the filter");
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
        // The rows of a document pass or fail together, and are adjacent.
        documents.dedup();
        if documents.len() > depth {
            break;
        }
    }
    documents.truncate(depth);
    Ok(documents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_ranks_have_one_score() {
        let mut before = f32::INFINITY;
        for (rank, score) in (1_u32..=20_000_000).zip(scores()) {
            assert!(score < before, "rank {rank}");
            assert!(
                rank > 8_000_000 || score.to_bits() == reciprocal(rank).to_bits(),
                "rank {rank}"
            );
            before = score;
        }
        assert!(before > 0.0);
        assert_eq!(scores().take(3).collect::<Vec<_>>(), [1.0, 0.5, 1.0 / 3.0]);
    }
}
