//! The correction of several p values.

use evals_metrics::{benjamini_hochberg, holm};
use serde::{Deserialize, Serialize};

/// How the p values of several tests are corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjustment {
    /// Holm's method: the probability of any false finding stays below the level.
    #[default]
    Holm,
    /// Benjamini and Hochberg's method: the expected share of false findings among all findings stays below the level.
    Bh,
    /// No correction: each test alone has the level.
    None,
}

impl Adjustment {
    /// The corrected p values, in the same order.
    pub(crate) fn apply(self, p_values: &[f64]) -> Vec<f64> {
        match self {
            Self::Holm => holm(p_values),
            Self::Bh => benjamini_hochberg(p_values),
            Self::None => p_values.to_vec(),
        }
    }

    /// The level of the strictest of so many tests, at a level of significance for all of them.
    pub(crate) fn strictest(self, significance: f64, tests: usize) -> f64 {
        match self {
            Self::None => significance,
            Self::Holm | Self::Bh => significance / count(tests.max(1)),
        }
    }

    /// The method in print; `None` for no correction.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Holm => Some("Holm's method"),
            Self::Bh => Some("Benjamini and Hochberg's method"),
            Self::None => None,
        }
    }

    /// The correction as an adjective in print; `None` for no correction.
    pub fn adjective(self) -> Option<&'static str> {
        match self {
            Self::Holm => Some("Holm-corrected"),
            Self::Bh => Some("Benjamini-Hochberg-corrected"),
            Self::None => None,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "there are few tests")]
fn count(tests: usize) -> f64 {
    tests as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_test_gets_its_share_of_the_level() {
        assert!((Adjustment::Holm.strictest(0.05, 10) - 0.005).abs() < 1e-15);
        assert!((Adjustment::Bh.strictest(0.05, 1) - 0.05).abs() < 1e-15);
        assert!((Adjustment::None.strictest(0.05, 10) - 0.05).abs() < 1e-15);
    }

    #[test]
    fn only_a_correction_changes_p_values() {
        let p_values = [0.01, 0.04];
        assert_eq!(Adjustment::None.apply(&p_values), p_values);
        assert_eq!(Adjustment::Holm.apply(&p_values), [0.02, 0.04]);
        assert_eq!(Adjustment::Bh.apply(&[0.03, 0.04]), [0.04, 0.04]);
    }
}
