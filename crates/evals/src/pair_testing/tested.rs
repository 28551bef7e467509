//! One difference with everything that its test says.

use evals_metrics::{EffectSize, NoStatistic, PairedDifference, cohens_dz, difference};

use super::PairTesting;
use super::sensitivity::Sensitivity;

/// A tested difference.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tested {
    pub(crate) difference: PairedDifference,
    /// Not corrected.
    pub(crate) p_value: Result<f64, NoStatistic>,
    /// The mean difference in standard deviations of the differences.
    pub(crate) effect: Option<EffectSize>,
    pub(crate) sensitivity: Sensitivity,
}

impl Tested {
    /// Tests paired values. `None` without values, or with one that is not finite.
    pub(crate) fn of(pairs: &[(f64, f64)], testing: &PairTesting) -> Option<Self> {
        let (found, p_value) = testing.method.compare(pairs, testing.paired)?;
        let changes = pairs.iter();
        let changes: Vec<f64> = changes
            .map(|(before, after)| difference(*before, *after))
            .collect();
        Some(Self {
            effect: cohens_dz(&changes, testing.paired.level).ok(),
            sensitivity: Sensitivity::of(pairs, &changes),
            difference: found,
            p_value,
        })
    }
}
