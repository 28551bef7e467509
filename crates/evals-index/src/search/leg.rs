//! One of the two searches of a hybrid profile, deepened until ties at its cut are exact.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::hit::{self, FoundChunks, Hit, LeftOut};
use super::{Filter, engine_query};
use crate::error::IndexError;
use crate::table::contents::Contents;
use crate::vector_table::VectorTable;

/// Factor by which each further attempt asks for more rows.
const MORE: usize = 4;
/// Rows beyond the depth that the first attempt asks for, so that it usually covers a tie at the cut.
const MARGIN: usize = 16;

/// One of the two searches that profiles combine, with the question in the form that it needs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Leg<'a> {
    Bm25 {
        question: &'a str,
    },
    Semantic {
        vector: &'a [f32],
        /// The index of the vectors to search; `None` to compare every vector.
        approximate: Option<&'a VectorTable>,
    },
}

/// The number of chunks tied at the cut for a search's last question. The next question asks for as many more at once: among documents
/// that are alike, every question ends in a tie.
#[derive(Debug, Default)]
pub(crate) struct UsualTies {
    bm25: AtomicUsize,
    semantic: AtomicUsize,
}

impl UsualTies {
    /// The number for this search. `None` for an approximate one: what it finds depends on how many rows it is asked for, and must not depend
    /// on other questions.
    fn tied(&self, leg: Leg<'_>) -> Option<&AtomicUsize> {
        match leg {
            Leg::Bm25 { .. } => Some(&self.bm25),
            Leg::Semantic {
                approximate: None, ..
            } => Some(&self.semantic),
            Leg::Semantic {
                approximate: Some(_),
                ..
            } => None,
        }
    }
}

impl Leg<'_> {
    /// Finds the best `depth` chunks. An approximate search may miss some of them, and may find fewer.
    ///
    /// Among equal scores at its limit, the engine returns arbitrary chunks. It is asked for more until one returned chunk scores lower
    /// than the last one needed: then every chunk with that score is known, and the tie-breaking is ours.
    pub(super) async fn search(
        self,
        contents: &Contents,
        filter: &Filter,
        ties: &UsualTies,
        depth: usize,
    ) -> Result<FoundChunks, IndexError> {
        let started = Instant::now();
        let positions = &contents.positions;
        let tied = ties.tied(self);
        let usual = tied.map_or(0, |tied| tied.load(Ordering::Relaxed));
        let first = depth + MARGIN + usual;
        let mut limit = first.min(positions.chunks());
        loop {
            let mut hits = self.fetch(contents, filter, limit).await?;
            let all = hits.len() < limit || limit >= positions.chunks();
            let left_out = hit::keep_best(&mut hits, depth, positions);
            if all || left_out.lower > 0 {
                if let Some(tied) = tied {
                    tied.store(left_out.tied, Ordering::Relaxed);
                }
                // The cache may hold the hits for other profiles.
                hits.shrink_to_fit();
                return Ok(FoundChunks {
                    hits,
                    exhausted: all && left_out == LeftOut::default(),
                    duration: Some(started.elapsed()),
                });
            }
            limit = limit.saturating_mul(MORE).min(positions.chunks());
        }
    }

    async fn fetch(
        self,
        contents: &Contents,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Hit>, IndexError> {
        let Contents {
            table, positions, ..
        } = contents;
        match self {
            Self::Bm25 { question } => {
                engine_query::best_by_text(table, positions, filter, question, limit).await
            }
            Self::Semantic {
                vector,
                approximate,
            } => {
                let table = approximate.map_or(table, |it| &it.table);
                let search = approximate.map(|it| &it.search);
                engine_query::best_by_vector(table, positions, filter, vector, limit, search).await
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
        let tied = |leg| ties.tied(leg).unwrap().load(Ordering::Relaxed);
        ties.tied(bm25).unwrap().store(7, Ordering::Relaxed);
        let semantic = Leg::Semantic {
            vector: &[],
            approximate: None,
        };
        assert_eq!(tied(semantic), 0);
        assert_eq!(tied(bm25), 7);
    }
}
