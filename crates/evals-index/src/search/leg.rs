use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lancedb::table::Table;

use super::hit::{self, Found, Hit, LeftOut};
use super::{Filter, engine_query};
use crate::error::IndexError;
use crate::table::positions::Positions;

/// How many times more rows each further try asks for.
const MORE: usize = 4;
/// Rows asked for beyond the depth in the first try, so that the usual tie at the cut is inside.
const MARGIN: usize = 16;

/// One of the two searches that profiles are made of, with the question in the form that it takes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Leg<'a> {
    Bm25 { question: &'a str },
    Semantic { vector: &'a [f32] },
}

/// How many chunks tied at the cut of a search's last question, so that the next one is asked for as many at once: where all
/// documents are alike, every question ends in a tie.
#[derive(Debug, Default)]
pub(crate) struct UsualTies {
    bm25: AtomicUsize,
    semantic: AtomicUsize,
}

impl UsualTies {
    fn tied(&self, leg: Leg<'_>) -> &AtomicUsize {
        match leg {
            Leg::Bm25 { .. } => &self.bm25,
            Leg::Semantic { .. } => &self.semantic,
        }
    }
}

impl Leg<'_> {
    /// Finds the best `depth` chunks.
    ///
    /// Of equal scores at its limit the engine returns any. It is asked for more until one of the chunks that it returned has a
    /// lower score than the last one needed: then all chunks of that score are there, and the cut among them is ours.
    pub(super) async fn search(
        self,
        table: &Table,
        positions: &Positions,
        filter: &Filter,
        depth: usize,
        ties: &UsualTies,
    ) -> Result<Found, IndexError> {
        let started = Instant::now();
        let tied = ties.tied(self);
        let first = depth + MARGIN + tied.load(Ordering::Relaxed);
        let mut limit = first.min(positions.chunks());
        loop {
            let mut hits = self.fetch(table, positions, filter, limit).await?;
            let all = hits.len() < limit || limit >= positions.chunks();
            let left_out = hit::keep_best(&mut hits, depth, positions);
            if all || left_out.lower > 0 {
                tied.store(left_out.tied, Ordering::Relaxed);
                // It may be kept for other profiles.
                hits.shrink_to_fit();
                return Ok(Found {
                    hits,
                    exhausted: all && left_out == LeftOut::default(),
                    duration: started.elapsed(),
                });
            }
            limit = limit.saturating_mul(MORE).min(positions.chunks());
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
            Self::Bm25 { question } => {
                engine_query::best_by_text(table, positions, filter, question, limit).await
            }
            Self::Semantic { vector } => {
                engine_query::best_by_vector(table, positions, filter, vector, limit).await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_leg_has_its_own_ties() {
        let ties = UsualTies::default();
        let bm25 = Leg::Bm25 { question: "" };
        ties.tied(bm25).store(7, Ordering::Relaxed);
        let semantic = Leg::Semantic { vector: &[] };
        assert_eq!(ties.tied(semantic).load(Ordering::Relaxed), 0);
        assert_eq!(ties.tied(bm25).load(Ordering::Relaxed), 7);
    }
}
