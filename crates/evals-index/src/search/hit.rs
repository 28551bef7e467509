use std::cmp::Ordering;
use std::collections::HashSet;

use evals_metrics::{Ranking, RankingError, ScoredDocument};

use crate::positions::Positions;

/// A chunk that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    pub(crate) position: usize,
    pub(crate) score: f32,
}

impl Hit {
    /// Takes the score without the sign of a negative zero, which would break a tie that is none.
    pub(crate) fn new(position: usize, score: f32) -> Self {
        Self {
            position,
            score: score + 0.0,
        }
    }
}

/// Sorts chunks: score descending, then document id descending as `trec_eval` does, then in the order of the document.
pub(super) fn sort(hits: &mut [Hit], positions: &Positions) {
    hits.sort_unstable_by(|left, right| order(*left, *right, positions));
}

fn order(left: Hit, right: Hit, positions: &Positions) -> Ordering {
    let uri = |hit: Hit| positions.uri(positions.document(hit.position));
    right
        .score
        .total_cmp(&left.score)
        .then_with(|| uri(right).cmp(uri(left)))
        .then_with(|| left.position.cmp(&right.position))
}

/// The first `k` distinct documents of sorted chunks, each with the score of its best chunk.
pub(super) fn best_documents(
    hits: &[Hit],
    k: usize,
    positions: &Positions,
) -> Result<Ranking, RankingError> {
    let mut seen = HashSet::new();
    let documents = hits
        .iter()
        .map(|hit| (positions.document(hit.position), hit.score))
        .filter(|(document, _)| seen.insert(*document))
        .take(k)
        .map(|(document, score)| ScoredDocument {
            id: positions.uri(document).to_owned(),
            score,
        });
    Ranking::new(documents)
}

/// How many distinct documents the chunks belong to.
pub(super) fn distinct_documents(hits: &[Hit], positions: &Positions) -> usize {
    let documents: HashSet<_> = hits
        .iter()
        .map(|hit| positions.document(hit.position))
        .collect();
    documents.len()
}

/// Which chunks of the best documents are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// As many of the best, whichever documents they are of.
    pub(super) chunks: usize,
    /// And the best one of each of so many documents.
    pub(super) best_of: usize,
}

/// Of sorted chunks that belong to the `k` best documents those that are wanted, in their order.
pub(super) fn of_best_documents(
    hits: &[Hit],
    k: usize,
    wanted: Wanted,
    positions: &Positions,
) -> Vec<Hit> {
    let mut documents = HashSet::new();
    let mut chunks = 0;
    let mut kept = Vec::new();
    for hit in hits {
        let document = positions.document(hit.position);
        let first = documents.len() < k && documents.insert(document);
        if !documents.contains(&document) {
            continue;
        }
        chunks += 1;
        if chunks <= wanted.chunks || (first && documents.len() <= wanted.best_of) {
            kept.push(*hit);
        }
    }
    kept
}
