//! Several tests whose p values are corrected together.

use super::Adjustment;

/// Several tests whose p values are corrected together. A comparison that no case changed in is not a test: no swap of sides can change
/// its difference.
///
/// ```
/// use evals::{Adjustment, Family};
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
