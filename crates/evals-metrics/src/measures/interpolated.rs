//! Interpolated precision at a level of recall, and its average over levels.

use std::fmt;

use super::MinimumGrade;
use crate::arithmetic::as_f64;
use crate::graded_ranking::GradedRanking;
use crate::{Decimal, Undefined};

/// `IPrec@r`: the highest precision at any rank where recall is at least r.
///
/// A level that the ranking does not reach has precision 0. Equals `iprec_at_recall_r` of `trec_eval`, which rounds the number
/// of documents that a level asks for: [`TrecEval`](crate::TrecEval) has the rule of each version. Undefined without relevant
/// documents; 0 for an empty ranking.
///
/// Source: Manning, Raghavan and Schütze, *Introduction to Information Retrieval* (2008), section 8.4.
pub(crate) fn interpolated_precision_at(
    ranking: &GradedRanking,
    rel: MinimumGrade,
    recall: Decimal,
) -> Result<f64, Undefined> {
    average(ranking, rel, [recall].into_iter())
}

/// `11pt_avg`: the mean of `IPrec` at several levels of recall, by default at 0, 0.1 … 1.
///
/// Equals `11pt_avg` of `trec_eval`, which keeps the name for other levels too; they have to ascend. Undefined without relevant
/// documents; 0 for an empty ranking.
///
/// Source: `trec_eval`, `m_11pt_avg.c`.
pub(crate) fn interpolated_average(
    ranking: &GradedRanking,
    rel: MinimumGrade,
    levels: &RecallLevels,
) -> Result<f64, Undefined> {
    average(ranking, rel, levels.iter())
}

fn average(
    ranking: &GradedRanking,
    rel: MinimumGrade,
    levels: impl ExactSizeIterator<Item = Decimal>,
) -> Result<f64, Undefined> {
    let relevant = ranking.relevant(rel)?.get();
    let best = ranking.interpolated(rel);
    let count = levels.len();
    let mut values: Vec<f64> = levels
        .map(|level| {
            let needed = ranking.version().documents_at(level.get(), relevant).max(1);
            best.get(needed - 1).copied().unwrap_or(0.0)
        })
        .collect();
    // From the highest level down, as trec_eval adds them, so that the last digit is the same.
    values.reverse();
    Ok(values.into_iter().fold(0.0, |sum, value| sum + value) / as_f64(count))
}

/// Levels of recall, ascending; at most [`MOST`](Self::MOST).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RecallLevels {
    levels: [Decimal; Self::MOST],
    len: usize,
}

impl RecallLevels {
    /// How many levels there can be.
    pub(crate) const MOST: usize = 21;

    /// Levels from 0 to 1 in ascending order; `None` for others, for no level, and for more than [`MOST`](Self::MOST).
    pub(crate) fn new(levels: impl IntoIterator<Item = Decimal>) -> Option<Self> {
        let mut all = [Decimal::default(); Self::MOST];
        let mut len = 0;
        for level in levels {
            let is_level = (0.0..=1.0).contains(&level.get());
            let ascends = len == 0 || all[len - 1] < level;
            if len == Self::MOST || !is_level || !ascends {
                return None;
            }
            all[len] = level;
            len += 1;
        }
        (len > 0).then_some(Self { levels: all, len })
    }

    /// The levels.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Decimal> {
        self.levels[..self.len].iter().copied()
    }
}

/// 0, 0.1 … 1.
impl Default for RecallLevels {
    fn default() -> Self {
        let levels = crate::RECALL_LEVELS.map(Decimal::constant);
        Self::new(levels).expect("eleven ascending levels")
    }
}

/// `0.2,0.5,0.8`.
impl fmt::Display for RecallLevels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let levels: Vec<String> = self.iter().map(|level| level.to_string()).collect();
        f.write_str(&levels.join(","))
    }
}
