//! Fusion of runs: one ranking from several.
//!
//! ```
//! use evals_metrics::fusion::{Fusion, Method, fuse};
//! use evals_metrics::trec;
//!
//! let lexical = trec::parse_run("q Q0 a 1 9 bm25\nq Q0 b 2 8 bm25\n")?;
//! let semantic = trec::parse_run("q Q0 b 1 0.9 dense\nq Q0 c 2 0.8 dense\n")?;
//! let fused = fuse(&[lexical, semantic], &Fusion::new(Method::Rrf { k: 60 }))?;
//! let ids: Vec<_> = fused["q"].iter().map(|document| document.id.as_str()).collect();
//! assert_eq!(ids, ["b", "a", "c"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod method;
mod normalization;

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

pub use method::{Method, reciprocal_rank};
pub use normalization::Normalization;

use crate::{Ranking, Run, ScoredDocument};

/// How runs are fused.
#[derive(Debug, Clone, PartialEq)]
pub struct Fusion {
    /// The formula.
    pub method: Method,
    /// How the scores of each run are made comparable, for methods that use scores. Default: [`Normalization::MinMax`].
    pub normalization: Normalization,
    /// What each run's share is multiplied by, in the order of the runs. Default: 1 for each.
    pub weights: Option<Vec<f64>>,
    /// How many documents of each query are kept. Default: all.
    pub depth: Option<usize>,
}

impl Fusion {
    /// This method with the defaults.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            normalization: Normalization::default(),
            weights: None,
            depth: None,
        }
    }
}

/// Why runs cannot be fused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FusionError {
    /// The number of weights is not that of the runs.
    #[error("there are {weights} weights for {runs} runs; give one for each")]
    Weights {
        /// The number of weights.
        weights: usize,
        /// The number of runs.
        runs: usize,
    },
    /// A weight is not a number above 0.
    #[error("the weight {weight} is not a number above 0")]
    Weight {
        /// The weight.
        weight: f64,
    },
    /// The greatest score of a query is not positive, so nothing can be a share of it.
    #[error(
        "run {run} has no score above 0 for query `{query}`, so none can be divided by the greatest; choose `min-max`"
    )]
    NoPositiveScore {
        /// The position of the run, from 1.
        run: usize,
        /// The query.
        query: String,
    },
    /// A fused score is beyond the range of single precision.
    #[error(
        "the fused score of document `{document}` for query `{query}` is out of range; choose a normalization"
    )]
    OutOfRange {
        /// The query.
        query: String,
        /// The document.
        document: String,
    },
}

/// Fuses runs into one. A run that does not rank a query has no share in it.
///
/// Ranks are those of [`Ranking`], from 1. Scores are computed in double precision and rounded to single precision before
/// documents are sorted, so that a written run has the same order everywhere.
///
/// # Errors
///
/// The weights do not fit, a score cannot be normalized, or a fused score is out of range.
pub fn fuse(runs: &[Run], fusion: &Fusion) -> Result<Run, FusionError> {
    let weights = weights(runs, fusion)?;
    let queries: BTreeSet<&String> = runs.iter().flat_map(Run::keys).collect();
    let mut fused = Run::new();
    for query in queries {
        let rankings: Vec<Option<&Ranking>> = runs.iter().map(|run| run.get(query)).collect();
        let shares = shares(query, &rankings, &weights, fusion)?;
        let scored = shares.into_iter().map(|(id, shares)| {
            let score = single(fusion.method.combine(&shares));
            if score.is_finite() {
                Ok(ScoredDocument {
                    id: id.to_owned(),
                    score,
                })
            } else {
                Err(FusionError::OutOfRange {
                    query: query.clone(),
                    document: id.to_owned(),
                })
            }
        });
        let documents: Vec<_> = scored.collect::<Result<_, _>>()?;
        let mut ranking = Ranking::new(documents).expect("ids are keys, and scores are finite");
        if let Some(depth) = fusion.depth {
            ranking.truncate(depth);
        }
        fused.insert(query.clone(), ranking);
    }
    Ok(fused)
}

fn weights(runs: &[Run], fusion: &Fusion) -> Result<Vec<f64>, FusionError> {
    let Some(weights) = &fusion.weights else {
        return Ok(vec![1.0; runs.len()]);
    };
    if weights.len() != runs.len() {
        return Err(FusionError::Weights {
            weights: weights.len(),
            runs: runs.len(),
        });
    }
    match weights.iter().find(|it| !(it.is_finite() && **it > 0.0)) {
        Some(&weight) => Err(FusionError::Weight { weight }),
        None => Ok(weights.clone()),
    }
}

/// The shares of each document, one from each run that has a share for it.
fn shares<'r>(
    query: &str,
    rankings: &[Option<&'r Ranking>],
    weights: &[f64],
    fusion: &Fusion,
) -> Result<BTreeMap<&'r str, Vec<f64>>, FusionError> {
    let mut shares: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for ranking in rankings.iter().flatten() {
        for document in *ranking {
            shares.entry(&document.id).or_default();
        }
    }
    let candidates = shares.len();
    for (index, (ranking, weight)) in rankings.iter().zip(weights).enumerate() {
        let Some(ranking) = ranking else {
            continue;
        };
        let scores: Vec<f64> = ranking.iter().map(|it| it.score.into()).collect();
        let normalized = fusion.normalization.apply(&scores);
        let normalized = normalized.ok_or_else(|| FusionError::NoPositiveScore {
            run: index + 1,
            query: query.to_owned(),
        })?;
        for ((rank, document), score) in (1..).zip(*ranking).zip(normalized) {
            let share = weight * fusion.method.share(rank, score, candidates);
            if let Some(shares) = shares.get_mut(document.id.as_str()) {
                shares.push(share);
            }
        }
        if let Some(share) = fusion.method.missing_share(ranking.len(), candidates) {
            let ranked: BTreeSet<&str> = ranking.iter().map(|it| it.id.as_str()).collect();
            let missing = shares.iter_mut().filter(|(id, _)| !ranked.contains(*id));
            missing.for_each(|(_, shares)| shares.push(weight * share));
        }
    }
    Ok(shares)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rankings hold scores in single precision"
)]
fn single(score: f64) -> f32 {
    score as f32
}
