//! Confidence intervals of means.

use std::num::{NonZeroU32, NonZeroUsize};
use std::thread;

use serde::{Deserialize, Serialize};

use crate::arithmetic::{OVERFLOW_SCALE, RESAMPLES, as_f64};
use crate::percentiles::quantile;
use crate::random::Xoshiro256PlusPlus;
use crate::{Interval, IntervalMethod};

/// Above this many values, threads share the resamples.
const ONE_STREAM: usize = 10_000;
/// When threads share them, this many resamples draw from one stream of random numbers.
const RESAMPLES_OF_A_STREAM: usize = 250;

/// The settings of intervals, and the percentile bootstrap of a mean over cases. Which interval a mean
/// has is the decision of [`mean_interval`](crate::mean_interval).
///
/// The bootstrap draws a sample of the same size with replacement, takes its mean, repeats this
/// many times, and cuts off both tails of the means. It assumes nothing about the distribution of
/// the values, which for measures between 0 and 1 is rarely normal. Equal input and seed give equal
/// output, on every machine and number of cores. For up to 10,000 values, all resamples draw from
/// one stream of random numbers. For more, every 250 resamples have their own stream, and all cores
/// share the work.
///
/// Equal values would give an interval of width 0, which misleads: a larger sample would vary.
/// They get no interval.
///
/// Source: Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), chapter 13.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// The number of resamples. Default: 10,000.
    pub resamples: NonZeroU32,
    /// The confidence level, between 0 and 1, both excluded. Default: 0.95.
    pub level: f64,
    /// Seeds the random numbers. Default: 0.
    pub seed: u64,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Self {
            resamples: RESAMPLES,
            level: 0.95,
            seed: 0,
        }
    }
}

impl Bootstrap {
    /// The percentile bootstrap's interval of the mean. `None` below two values or if all are equal,
    /// because they show no spread; also if a value is not finite, or the level is not between 0 and
    /// 1.
    pub fn percentile_interval(&self, values: &[f64]) -> Option<Interval> {
        if !self.has_level() {
            return None;
        }
        let (least, greatest) = range(values)?;
        if least >= greatest {
            return None;
        }
        if least.abs().max(greatest.abs()) > f64::MAX / as_f64(values.len()) {
            // A resample's sum could overflow. The interval of scaled values is the scaled interval.
            let scaled: Vec<f64> = values.iter().map(|value| value * OVERFLOW_SCALE).collect();
            let interval = self.percentile_interval(&scaled)?;
            return Some(Interval {
                low: (interval.low / OVERFLOW_SCALE).max(least),
                high: (interval.high / OVERFLOW_SCALE).min(greatest),
                ..interval
            });
        }
        let means = self.sorted_means(values);
        let tail = (1.0 - self.level) / 2.0;
        Some(Interval {
            low: quantile(&means, tail)?,
            high: quantile(&means, 1.0 - tail)?,
            level: self.level,
            method: IntervalMethod::Bootstrap,
        })
    }

    fn has_level(&self) -> bool {
        self.level > 0.0 && self.level < 1.0
    }

    /// The means of all resamples, ascending.
    fn sorted_means(&self, values: &[f64]) -> Vec<f64> {
        let mut means = self.resampled_means(values);
        means.sort_unstable_by(f64::total_cmp);
        means
    }

    /// The means of all resamples, in no particular order.
    fn resampled_means(&self, values: &[f64]) -> Vec<f64> {
        let mut means = vec![0.0; self.resamples.get() as usize];
        let mut random = Xoshiro256PlusPlus::seeded(self.seed);
        if values.len() <= ONE_STREAM {
            resample(values, &mut random, &mut means);
        } else {
            let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
            resample_on_threads(values, random, &mut means, threads);
        }
        means
    }
}

/// How many values are 1, if all are 0 or 1.
#[expect(
    clippy::float_cmp,
    reason = "a pass is exactly 1 and a failure exactly 0"
)]
pub(crate) fn passes(values: &[f64]) -> Option<usize> {
    let binary = values.iter().all(|&value| value == 0.0 || value == 1.0);
    binary.then(|| values.iter().filter(|&&value| value == 1.0).count())
}

/// The least and the greatest value, or `None` if a value is not finite or there are no values.
fn range(values: &[f64]) -> Option<(f64, f64)> {
    let &first = values.first()?;
    let finite = values.iter().all(|value| value.is_finite());
    finite.then(|| {
        values
            .iter()
            .fold((first, first), |(least, greatest), &value| {
                (least.min(value), greatest.max(value))
            })
    })
}

fn resample(values: &[f64], random: &mut Xoshiro256PlusPlus, means: &mut [f64]) {
    for mean in means {
        *mean = resampled_sum(values, random) / as_f64(values.len());
    }
}

/// Gives every few resamples a stream of their own. The result then does not depend on which thread
/// draws them.
fn resample_on_threads(
    values: &[f64],
    mut random: Xoshiro256PlusPlus,
    means: &mut [f64],
    threads: NonZeroUsize,
) {
    let mut parts: Vec<_> = means
        .chunks_mut(RESAMPLES_OF_A_STREAM)
        .map(|means| (random.split_off(), means))
        .collect();
    let share = parts.len().div_ceil(threads.get());
    thread::scope(|scope| {
        for parts in parts.chunks_mut(share) {
            scope.spawn(|| {
                for (random, means) in parts {
                    resample(values, random, means);
                }
            });
        }
    });
}

/// The sum of one resample. It keeps two running sums, because each addition has to wait for the
/// previous one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let values = [0.25, 1.0, 3.5, 0.75, 2.0];
        let means = |threads| {
            let mut means = vec![0.0; 3 * RESAMPLES_OF_A_STREAM + 7];
            let threads = NonZeroUsize::new(threads).unwrap();
            resample_on_threads(&values, Xoshiro256PlusPlus::seeded(5), &mut means, threads);
            means
        };
        let alone = means(1);
        for threads in [2, 3, 4, 64] {
            assert_eq!(means(threads), alone, "{threads} threads");
        }
        let (first, second) = alone.split_at(RESAMPLES_OF_A_STREAM);
        assert_ne!(first, &second[..RESAMPLES_OF_A_STREAM], "streams differ");
    }
}
