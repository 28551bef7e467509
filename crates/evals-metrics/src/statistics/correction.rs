//! The correction of the p values of several tests.

use serde::{Deserialize, Serialize};

use crate::arithmetic::as_f64;

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
    pub fn apply(self, p_values: &[f64]) -> Vec<f64> {
        match self {
            Self::Holm => holm(p_values),
            Self::Bh => benjamini_hochberg(p_values),
            Self::None => p_values.to_vec(),
        }
    }

    /// The level of the strictest of so many tests, at a level of significance for all of them.
    pub fn strictest(self, significance: f64, tests: usize) -> f64 {
        match self {
            Self::None => significance,
            Self::Holm | Self::Bh => significance / as_f64(tests.max(1)),
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

/// Several tests whose p values are corrected together. A comparison that no case changed in is not a test: no swap of sides can change
/// its difference.
///
/// ```
/// use evals_metrics::{Adjustment, Family};
///
/// let family = Family::of([Some(0.01), None, Some(0.04)], Adjustment::Holm, 0.05);
/// assert_eq!(family.tests(), 2);
/// assert_eq!(family.adjusted(), [Some(0.02), None, Some(0.04)]);
/// assert_eq!(family.strictest(), 0.025);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    adjusted: Vec<Option<f64>>,
    tests: usize,
    strictest: f64,
}

impl Family {
    /// Corrects the p values, at a level of significance for all of them together. `None` stands for a comparison that is not a test.
    pub fn of(
        p_values: impl IntoIterator<Item = Option<f64>>,
        adjustment: Adjustment,
        significance: f64,
    ) -> Self {
        let p_values: Vec<Option<f64>> = p_values.into_iter().collect();
        let tested: Vec<f64> = p_values.iter().copied().flatten().collect();
        let mut adjusted = adjustment.apply(&tested).into_iter();
        Self {
            adjusted: p_values
                .iter()
                .map(|p_value| p_value.and_then(|_| adjusted.next()))
                .collect(),
            tests: tested.len(),
            strictest: adjustment.strictest(significance, tested.len()),
        }
    }

    /// The family of the headline measure, which is tested first at the full level, and that of all other measures. Each of `tests` says
    /// whether it is about the headline measure, and has a place in both families, in one of them without a p value.
    pub fn headline_first(
        tests: &[(bool, Option<f64>)],
        adjustment: Adjustment,
        significance: f64,
    ) -> [Self; 2] {
        [true, false].map(|of_headline| {
            let tests = tests.iter();
            let own =
                tests.map(|(is_headline, p_value)| p_value.filter(|_| *is_headline == of_headline));
            Self::of(own, adjustment, significance)
        })
    }

    /// The corrected p values, in the order of the p values.
    pub fn adjusted(&self) -> &[Option<f64>] {
        &self.adjusted
    }

    /// How many of the comparisons are tests.
    pub fn tests(&self) -> usize {
        self.tests
    }

    /// The level of significance of the strictest of the tests, which its power refers to.
    pub fn strictest(&self) -> f64 {
        self.strictest
    }
}

/// Holm's correction for several tests. If no change has an effect, the probability that any adjusted p value is below a
/// level is at most that level. Keeps the order of the input, whose values must be in [0, 1].
///
/// Source: Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (1979).
///
/// ```
/// let adjusted = evals_metrics::holm(&[0.01, 0.04, 0.03]);
/// assert_eq!(adjusted, [0.03, 0.06, 0.06]);
/// ```
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&left, &right| p_values[left].total_cmp(&p_values[right]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut least = 0.0_f64;
    for (rank, position) in order.into_iter().enumerate() {
        let left = as_f64(p_values.len() - rank);
        least = least.max((left * p_values[position]).min(1.0));
        adjusted[position] = least;
    }
    adjusted
}

/// Benjamini and Hochberg's correction for many tests: if every test with an adjusted p value below a level is reported, the
/// expected share of false reports among them is at most that level. Keeps the order of the input, whose values must be in
/// [0, 1].
///
/// It assumes that the tests are independent or positively dependent. Unlike [`holm`](crate::holm) it allows some false reports, so it
/// suits a search through many measures better than a decision.
///
/// Source: Benjamini and Hochberg, "Controlling the False Discovery Rate", Journal of the Royal Statistical Society B 57 (1995).
/// Equals `scipy.stats.false_discovery_control`.
///
/// ```
/// let adjusted = evals_metrics::benjamini_hochberg(&[0.01, 0.04, 0.03]);
/// assert_eq!(adjusted, [0.03, 0.04, 0.04]);
/// ```
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&left, &right| p_values[right].total_cmp(&p_values[left]));
    let tests = as_f64(p_values.len());
    let mut adjusted = vec![0.0; p_values.len()];
    let mut most = 1.0_f64;
    for (larger, position) in order.into_iter().enumerate() {
        let rank = as_f64(p_values.len() - larger);
        most = most.min(tests / rank * p_values[position]);
        adjusted[position] = most;
    }
    adjusted
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
