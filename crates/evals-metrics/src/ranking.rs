//! A system's documents for one query, in the order of `trec_eval`.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::slice;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The rankings of a system for a set of queries: query id to [`Ranking`].
pub type Run = BTreeMap<String, Ranking>;

/// A document and the score that a system gave it; higher is better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredDocument {
    /// The document's id, as in the judgements.
    pub id: String,
    /// The score in single precision, as in `trec_eval`: the precision decides which scores tie.
    pub score: f32,
}

/// The documents that a system returned for one query, always in the order of `trec_eval`: score
/// descending, then document id descending in byte order.
///
/// The order in which a system lists its documents therefore does not matter: of two documents with
/// equal scores, the greater id comes first. Ids are unique and scores finite. Serialises as an
/// array, `[{"id": "d1", "score": 0.5}]`, and is checked and sorted again when read.
///
/// ```
/// use evals_metrics::{Ranking, ScoredDocument};
///
/// let scored = |id: &str, score| ScoredDocument { id: id.to_owned(), score };
/// let ranking = Ranking::new([scored("a", 1.0), scored("b", 1.0), scored("c", 2.0)])?;
/// let ids: Vec<_> = ranking.iter().map(|document| document.id.as_str()).collect();
/// assert_eq!(ids, ["c", "b", "a"]);
/// # Ok::<(), evals_metrics::RankingError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<ScoredDocument>", into = "Vec<ScoredDocument>")]
pub struct Ranking(Vec<ScoredDocument>);

impl Ranking {
    /// Sorts the documents into `trec_eval`'s order.
    pub fn new(documents: impl IntoIterator<Item = ScoredDocument>) -> Result<Self, RankingError> {
        let mut documents: Vec<_> = documents.into_iter().collect();
        for document in &mut documents {
            if !document.score.is_finite() {
                return Err(RankingError::NotFinite {
                    id: document.id.clone(),
                    score: document.score,
                });
            }
            // Turns -0.0 into 0.0: they tie in trec_eval, but not in `total_cmp`.
            document.score += 0.0;
        }
        reject_duplicates(&documents)?;
        documents.sort_unstable_by(trec_eval_order);
        Ok(Self(documents))
    }

    /// Sorts documents by scores in double precision into the order of `trec_eval` 10. Where rounding to single precision would make
    /// different scores equal, the lower one becomes the next smaller number, so that the order stays and only equal scores tie.
    ///
    /// ```
    /// use evals_metrics::Ranking;
    ///
    /// let ranking = Ranking::of_doubles([("a".to_owned(), 1_732_363_202.0), ("b".to_owned(), 1_732_363_201.0)])?;
    /// let ids: Vec<_> = ranking.iter().map(|document| document.id.as_str()).collect();
    /// assert_eq!(ids, ["a", "b"]);
    /// # Ok::<(), evals_metrics::RankingError>(())
    /// ```
    pub fn of_doubles(
        documents: impl IntoIterator<Item = (String, f64)>,
    ) -> Result<Self, RankingError> {
        let mut documents: Vec<_> = documents.into_iter().collect();
        // -0.0 and 0.0 tie.
        documents.sort_unstable_by(|(one, left), (other, right)| {
            (right + 0.0)
                .total_cmp(&(left + 0.0))
                .then_with(|| other.cmp(one))
        });
        let mut previous: Option<(f64, f32)> = None;
        let rounded = documents.into_iter().map(|(id, double)| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::float_cmp,
                reason = "rankings hold scores in single precision, and only equal scores tie"
            )]
            let score = match previous {
                Some((same, score)) if same == double => score,
                Some((_, above)) => (double as f32).min(above.next_down()),
                None => double as f32,
            };
            previous = Some((double, score));
            ScoredDocument { id, score }
        });
        Self::new(rounded)
    }

    /// Keeps the best `k` documents.
    pub fn truncate(&mut self, k: usize) {
        self.0.truncate(k);
    }

    /// The documents, best first.
    pub fn iter(&self) -> slice::Iter<'_, ScoredDocument> {
        self.0.iter()
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was retrieved.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn trec_eval_order(left: &ScoredDocument, right: &ScoredDocument) -> Ordering {
    right
        .score
        .total_cmp(&left.score)
        .then_with(|| right.id.cmp(&left.id))
}

fn reject_duplicates(documents: &[ScoredDocument]) -> Result<(), RankingError> {
    let mut seen = HashSet::with_capacity(documents.len());
    match documents
        .iter()
        .find(|document| !seen.insert(document.id.as_str()))
    {
        Some(document) => Err(RankingError::DuplicateId {
            id: document.id.clone(),
        }),
        None => Ok(()),
    }
}

impl TryFrom<Vec<ScoredDocument>> for Ranking {
    type Error = RankingError;

    fn try_from(documents: Vec<ScoredDocument>) -> Result<Self, Self::Error> {
        Self::new(documents)
    }
}

impl From<Ranking> for Vec<ScoredDocument> {
    fn from(ranking: Ranking) -> Self {
        ranking.0
    }
}

impl IntoIterator for Ranking {
    type Item = ScoredDocument;
    type IntoIter = std::vec::IntoIter<ScoredDocument>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Ranking {
    type Item = &'a ScoredDocument;
    type IntoIter = slice::Iter<'a, ScoredDocument>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Why documents do not form a [`Ranking`].
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum RankingError {
    /// One document is listed twice, so its rank is unclear.
    #[error("document `{id}` is ranked twice")]
    DuplicateId {
        /// The repeated document.
        id: String,
    },
    /// A score is NaN or infinite in single precision, so it has no place in the order.
    #[error("document `{id}` has the score `{score}`, which is not a finite number")]
    NotFinite {
        /// The document with that score.
        id: String,
        /// The score.
        score: f32,
    },
}
