//! How many random swaps a small p value takes.

use std::num::NonZeroU32;

use crate::PairedTest;

/// Random swaps for each share of them that a p value has to be below. Fewer extreme swaps make a rough p value.
const SWAPS: f64 = 10.0;

impl PairedTest {
    /// The test with ten random swaps for each share that `significance` is of 1, if it makes fewer: the least p value of N random
    /// swaps is 1 / (N + 1), which a correction for several tests multiplies.
    ///
    /// ```
    /// use evals_metrics::PairedTest;
    ///
    /// let test = PairedTest::default();
    /// // Holm's first step of 10 tests takes no more than the usual 100,000 swaps, and that of 5,000 tests takes a million.
    /// assert_eq!(test.resolving(0.05 / 10.0), test);
    /// assert_eq!(test.resolving(0.05 / 5_000.0).resamples.get(), 1_000_000);
    /// ```
    #[must_use]
    pub fn resolving(self, significance: f64) -> Self {
        let needed = (SWAPS / significance).round().min(f64::from(u32::MAX));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number from 0 to the largest of the type"
        )]
        let needed = NonZeroU32::new(needed as u32);
        Self {
            resamples: needed.map_or(self.resamples, |needed| self.resamples.max(needed)),
            ..self
        }
    }

    /// Whether more random swaps would make this p value of the test more precise: fewer than ten swaps were as extreme as the
    /// observed one. An exact p value stays the same.
    ///
    /// If a test is repeated with more swaps exactly where this holds, its p value stays valid at every level: below the p value of ten extreme
    /// swaps only the second test decides, and above it the first one does.
    pub fn is_rough(&self, p_value: f64) -> bool {
        p_value * (f64::from(self.resamples.get()) + 1.0) < SWAPS + 0.5
    }
}
