use std::time::Instant;

use lancedb::table::Table;

use super::found::Found;
use super::hit::{self, Hit};
use super::{Filter, bm25, semantic};
use crate::IndexError;
use crate::positions::Positions;

/// Rows asked for beyond the depth in the first try, so that the usual tie at the cut is inside.
const MARGIN: usize = 16;

/// One of the two searches that profiles are made of, with the question in the form that it takes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Leg<'a> {
    Bm25 { question: &'a str },
    Semantic { vector: &'a [f32] },
}

impl Leg<'_> {
    /// Finds the best `depth` chunks.
    ///
    /// Of equal scores at its limit the engine returns any. It is asked for more until the lowest score that it returned is below
    /// the last one needed: then all chunks of that score are there, and the cut among them is ours.
    pub(super) async fn search(
        self,
        table: &Table,
        positions: &Positions,
        filter: &Filter,
        depth: usize,
    ) -> Result<Found, IndexError> {
        let started = Instant::now();
        let mut limit = depth.saturating_add(MARGIN).min(positions.chunks());
        loop {
            let mut hits = self.fetch(table, positions, filter, limit).await?;
            let all = hits.len() < limit || limit >= positions.chunks();
            hit::sort(&mut hits, positions);
            if all || is_complete(&hits, depth) {
                let exhausted = all && hits.len() <= depth;
                hits.truncate(depth);
                // It may be kept for other profiles.
                hits.shrink_to_fit();
                return Ok(Found {
                    hits,
                    exhausted,
                    duration: started.elapsed(),
                });
            }
            limit = limit.saturating_mul(2).min(positions.chunks());
        }
    }

    async fn fetch(
        self,
        table: &Table,
        positions: &Positions,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Hit>, IndexError> {
        match self {
            Self::Bm25 { question } => bm25::fetch(table, positions, filter, question, limit).await,
            Self::Semantic { vector } => {
                semantic::fetch(table, positions, filter, vector, limit).await
            }
        }
    }
}

/// Whether no chunk that the engine left out can have the score of the last one needed.
fn is_complete(sorted: &[Hit], depth: usize) -> bool {
    match (
        depth.checked_sub(1).and_then(|last| sorted.get(last)),
        sorted.last(),
    ) {
        (Some(needed), Some(lowest)) => needed.score > lowest.score,
        _ => depth == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tie_at_the_limit_is_not_complete() {
        let hits =
            |scores: &[f32]| -> Vec<_> { scores.iter().map(|score| Hit::new(0, *score)).collect() };
        assert!(is_complete(&hits(&[3.0, 2.0, 1.0]), 2));
        assert!(!is_complete(&hits(&[3.0, 2.0, 2.0]), 2));
        assert!(!is_complete(&hits(&[3.0, 2.0]), 2));
        assert!(!is_complete(&hits(&[3.0]), 2));
    }
}
