//! Nearly expected reciprocal rank.

use std::num::NonZeroUsize;

use super::expected_reciprocal_rank::within;
use crate::arithmetic::as_f64;
use crate::graded_ranking::GradedRanking;
use crate::{Decimal, Undefined};

/// How deep `cwl_eval` looks.
const DEPTH: usize = 1000;

/// `NERR8@k`, `NERR9@k` and `NERR10`: measures of the C/W/L framework that are close to
/// [`ExpectedReciprocalRank`](super::ExpectedReciprocalRank).
///
/// ```text
/// NERR = Σ W(i) · g(i);   W(i) = Π over j < i of C(j), scaled to a sum of 1;   g(i) = min(grade, max_rel) / max_rel
/// ```
///
/// C(i) is the probability of going on after rank i. Missing documents have the gain 0. Equals `cwl_eval`, which ir-measures
/// calls, and which looks at 1000 documents at most. Undefined without a positive grade, and with a grade above `max_rel`; 0
/// for an empty ranking.
///
/// Source: Azzopardi, Mackenzie and Moffat, "ERR is not C/W/L: Exploring the Relationship Between Expected Reciprocal Rank and
/// Other Metrics", ICTIR (2021).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NearlyErr {
    /// When the reader goes on.
    pub continues: Continues,
    /// The highest grade that judgements can have, from 1.
    pub max_rel: u16,
}

/// The probability C of going on to the next document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Continues {
    /// `NERR8@k`: `1 - g(i)`, down to rank k.
    Gain(NonZeroUsize),
    /// `NERR9@k`: `i / (i + 1) · (1 - g(i))`, down to rank k.
    DiscountedGain(NonZeroUsize),
    /// `NERR10(p=…)`: `p · (1 - g(i))`.
    Persistence(Decimal),
}

impl Continues {
    pub(crate) fn cutoff_mut(&mut self) -> Option<&mut NonZeroUsize> {
        match self {
            Self::Gain(cutoff) | Self::DiscountedGain(cutoff) => Some(cutoff),
            Self::Persistence(_) => None,
        }
    }
}

impl NearlyErr {
    pub(crate) fn score(mut self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        within(ranking, self.max_rel)?;
        let cutoff = self.continues.cutoff_mut();
        let depth = cutoff.map_or(DEPTH, |cutoff| cutoff.get().min(DEPTH));
        let (mut weight, mut weights, mut sum) = (1.0, 0.0, 0.0);
        for rank in 1..=depth {
            let grade = ranking.grades.get(rank - 1).copied().flatten();
            let gain = f64::from(grade.unwrap_or(0).max(0)) / f64::from(self.max_rel);
            sum += weight * gain;
            weights += weight;
            weight *= (1.0 - gain)
                * match self.continues {
                    Continues::Gain(_) => 1.0,
                    Continues::DiscountedGain(_) => as_f64(rank) / as_f64(rank + 1),
                    Continues::Persistence(p) => p.get(),
                };
        }
        Ok(sum / weights)
    }
}
