use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::Interval;
use crate::count::as_f64;
use crate::quantile::quantile;
use crate::random::Xoshiro256PlusPlus;

/// The percentile bootstrap: how much a mean would vary over other samples of cases.
///
/// Draws as many values as there are, with replacement, takes the mean, repeats that, and cuts off
/// both tails of the means. It assumes nothing about the distribution of the values, which for
/// measures between 0 and 1 is rarely normal. Equal input and seed give equal output, on every
/// machine.
///
/// Source: Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), chapter 13.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// How many samples are drawn. Default: 10,000.
    pub resamples: NonZeroU32,
    /// The confidence level, between 0 and 1, both excluded. Default: 0.95.
    pub level: f64,
    /// Seeds the random numbers. Default: 0.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        const RESAMPLES: NonZeroU32 = NonZeroU32::new(10_000).expect("10,000 is not 0");
        Self {
            resamples: RESAMPLES,
            level: 0.95,
            seed: 0,
        }
    }
}

impl Bootstrap {
    /// The confidence interval of the mean of finite values.
    ///
    /// `None` below two values, which say nothing about spread, and for a level that is not between
    /// 0 and 1. Values that are all equal give an interval without width: the sample shows no
    /// spread, however small it is.
    pub fn mean_interval(&self, values: &[f64]) -> Option<Interval> {
        if values.len() < 2 || !(self.level > 0.0 && self.level < 1.0) {
            return None;
        }
        let means = self.resampled_means(values);
        let tail = (1.0 - self.level) / 2.0;
        Some(Interval {
            low: quantile(&means, tail)?,
            high: quantile(&means, 1.0 - tail)?,
            level: self.level,
        })
    }

    /// The means of all resamples, ascending.
    fn resampled_means(&self, values: &[f64]) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seeded(self.seed);
        let mut means: Vec<f64> = (0..self.resamples.get())
            .map(|_| resampled_sum(values, &mut random) / as_f64(values.len()))
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        means
    }
}

/// The sum of as many values as there are, drawn with replacement. Two running sums, because each
/// addition has to wait for the one before.
fn resampled_sum(values: &[f64], random: &mut Xoshiro256PlusPlus) -> f64 {
    let mut sums = [0.0; 2];
    for _ in 0..values.len() / 2 {
        let [left, right] = random.index_pair(values.len());
        sums[0] += values[left];
        sums[1] += values[right];
    }
    if values.len() % 2 == 1 {
        let [last, _] = random.index_pair(values.len());
        sums[0] += values[last];
    }
    sums[0] + sums[1]
}
