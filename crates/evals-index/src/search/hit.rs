//! The chunks that a search found: their order, and the documents and passages that they lead to.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::time::Duration;

use evals_metrics::{Ranking, RankingError, ScoredDocument};

use crate::table::positions::Positions;

/// A chunk that a search found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    pub(crate) position: usize,
    pub(crate) score: f32,
}

impl Hit {
    /// Drops the sign of a negative zero, so that both zeros tie.
    pub(crate) fn new(position: usize, score: f32) -> Self {
        Self {
            position,
            score: score + 0.0,
        }
    }

    /// A chunk at this cosine distance. Its score is the cosine.
    pub(crate) fn of_distance(position: usize, distance: f32) -> Self {
        Self::new(position, 1.0 - distance)
    }
}

/// The best chunks of one search, or of several that were fused.
#[derive(Debug)]
pub(super) struct FoundChunks {
    /// In the order of [`sort`].
    pub(super) hits: Vec<Hit>,
    /// Whether a greater depth would find nothing more.
    pub(super) exhausted: bool,
    /// How long the search took, or the fusion. `None` if the search was one of many at once.
    pub(super) duration: Option<Duration>,
}

impl FoundChunks {
    /// The result for a question without anything to search for.
    pub(super) fn nothing() -> Self {
        Self {
            hits: Vec::new(),
            exhausted: true,
            duration: Some(Duration::ZERO),
        }
    }
}

/// Sorts chunks by descending score, then descending document id as `trec_eval` does, then by their order in the document.
pub(super) fn sort(hits: &mut [Hit], positions: &Positions) {
    hits.sort_unstable_by(|left, right| order(*left, *right, positions));
}

/// How many chunks [`keep_best`] dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// Chunks with the score of the last one kept.
    pub(super) tied: usize,
    /// Chunks with a lower score.
    pub(super) lower: usize,
}

/// Keeps the best `count` chunks, sorted, and counts the others.
pub(super) fn keep_best(hits: &mut Vec<Hit>, count: usize, positions: &Positions) -> LeftOut {
    let mut left_out = LeftOut::default();
    if count < hits.len() {
        if let Some(last) = count.checked_sub(1) {
            let (_, last, rest) =
                hits.select_nth_unstable_by(last, |left, right| order(*left, *right, positions));
            let tied = rest.iter().filter(|hit| hit.score >= last.score);
            left_out.tied = tied.count();
        }
        left_out.lower = hits.len() - count - left_out.tied;
        hits.truncate(count);
    }
    sort(hits, positions);
    left_out
}

fn order(left: Hit, right: Hit, positions: &Positions) -> Ordering {
    let by_score = right.score.total_cmp(&left.score);
    by_score.then_with(|| order_of_equals(left.position, right.position, positions))
}

/// The order of two chunks with one score.
pub(super) fn order_of_equals(left: usize, right: usize, positions: &Positions) -> Ordering {
    let uri = |position| positions.uri(positions.document(position));
    uri(right).cmp(uri(left)).then_with(|| left.cmp(&right))
}

/// The best chunk of each of the first `k` documents of sorted chunks.
pub(super) fn best_of_documents(hits: &[Hit], k: usize, positions: &Positions) -> Vec<Hit> {
    let mut seen = HashSet::new();
    let firsts = hits
        .iter()
        .filter(|hit| seen.insert(positions.document(hit.position)));
    firsts.take(k).copied().collect()
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

/// Whether the chunks belong to `k` distinct documents, or more.
pub(super) fn has_documents(hits: &[Hit], k: usize, positions: &Positions) -> bool {
    let mut seen = HashSet::new();
    let mut documents = hits.iter().map(|hit| positions.document(hit.position));
    k == 0 || documents.any(|document| seen.insert(document) && seen.len() == k)
}

/// Which chunks of the best documents are returned as passages.
#[derive(Debug, Clone, Copy)]
pub(super) struct WantedChunks {
    /// This many of the best chunks, from whichever documents.
    pub(super) chunks: usize,
    /// Also the best chunk of each of this many documents.
    pub(super) best_of: usize,
}

/// Picks the wanted chunks of the `k` best documents from sorted chunks, and keeps their order.
pub(super) fn of_best_documents(
    hits: &[Hit],
    k: usize,
    wanted: WantedChunks,
    positions: &Positions,
) -> Vec<Hit> {
    let mut documents = HashSet::new();
    let mut chunks = 0;
    let mut kept = Vec::new();
    for hit in hits {
        if chunks >= wanted.chunks && documents.len() >= wanted.best_of.min(k) {
            break;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn best(scores: &[f32], count: usize) -> (Vec<usize>, LeftOut) {
        let positions = Positions::of_whole_documents(&["a", "b", "c", "d", "e"]);
        let hits = scores.iter().enumerate();
        let mut hits: Vec<_> = hits
            .map(|(position, score)| Hit::new(position, *score))
            .collect();
        let left_out = keep_best(&mut hits, count, &positions);
        (hits.iter().map(|hit| hit.position).collect(), left_out)
    }

    #[test]
    fn ties_at_the_cut_are_broken_by_document_id() {
        let left_out = |tied, lower| LeftOut { tied, lower };
        let scores = [2.0, 3.0, 2.0, 2.0, 1.0];
        assert_eq!(best(&scores, 0), (vec![], left_out(0, 5)));
        assert_eq!(best(&scores, 1), (vec![1], left_out(0, 4)));
        assert_eq!(best(&scores, 2), (vec![1, 3], left_out(2, 1)));
        assert_eq!(best(&scores, 3), (vec![1, 3, 2], left_out(1, 1)));
        assert_eq!(best(&scores, 4), (vec![1, 3, 2, 0], left_out(0, 1)));
        assert_eq!(best(&scores, 5), (vec![1, 3, 2, 0, 4], left_out(0, 0)));
        assert_eq!(best(&scores, 6), (vec![1, 3, 2, 0, 4], left_out(0, 0)));
    }
}
