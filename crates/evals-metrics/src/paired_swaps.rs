//! How many random swaps a small p value needs.

use std::num::NonZeroU32;

use crate::PairedTest;

/// The expected number of extreme swaps at the level of significance. A p value from fewer extreme swaps is rough.
const SWAPS: f64 = 10.0;

impl PairedTest {
    /// The test with at least 10 / `significance` random swaps. The least p value of N random swaps is 1 / (N + 1), and a correction for
    /// several tests multiplies it.
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
    /// If a caller repeats exactly the tests for which this is true with more swaps, the p values stay valid at every level: below the p value
    /// of ten extreme swaps only the second test decides, and above it only the first one.
    pub fn is_rough(&self, p_value: f64) -> bool {
        p_value * (f64::from(self.resamples.get()) + 1.0) < SWAPS + 0.5
    }
}
