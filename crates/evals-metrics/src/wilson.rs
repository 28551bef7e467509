//! Wilson's score interval, for values that are all 0 or 1.

use crate::arithmetic::{as_f64, share};
use crate::distribution::upper_quantile;
use crate::{Interval, IntervalMethod};

/// Wilson's score interval of a proportion: `passes` of `trials`, which are not 0.
///
/// ```text
/// (p + z²/2n ± z √(p (1 - p) / n + z²/4n²)) / (1 + z²/n)
/// ```
///
/// where p is the share of passes, n the trials and z the normal quantile of the level. Unlike the
/// bootstrap it knows that five passes of five do not prove that the sixth will pass.
///
/// Source: Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", Journal
/// of the American Statistical Association 22 (1927), equation 2.
pub(crate) fn wilson_interval(passes: usize, trials: usize, level: f64) -> Interval {
    let (low, high) = wilson_limits(passes, trials, upper_quantile((1.0 - level) / 2.0));
    Interval {
        low,
        high,
        level,
        method: IntervalMethod::Wilson,
    }
}

/// Wilson's score interval around a share that was estimated as precisely as by `trials` independent trials, which is a number above 0 and
/// need not be whole: the effective sample size of a weighted or stratified sample.
///
/// Source for such samples: Franco, Little, Louis and Slud, "Comparative Study of Confidence Intervals for Proportions in Complex Sample
/// Surveys", Journal of Survey Statistics and Methodology 7 (2019).
pub fn wilson_of_effective(share: f64, trials: f64, level: f64) -> Interval {
    let (low, high) = limits(share, trials, upper_quantile((1.0 - level) / 2.0));
    Interval {
        low: low.max(0.0),
        high: high.min(1.0),
        level,
        method: IntervalMethod::Wilson,
    }
}

/// The ends of the interval for a normal quantile `z` of at least 0.
pub(crate) fn wilson_limits(passes: usize, trials: usize, z: f64) -> (f64, f64) {
    let (low, high) = limits(share(passes, trials), as_f64(trials), z);
    // Mathematically exact, so exact here too.
    let low = if passes == 0 { 0.0 } else { low };
    let high = if passes == trials { 1.0 } else { high };
    (low, high)
}

fn limits(share: f64, n: f64, z: f64) -> (f64, f64) {
    let uncertainty = z * z / n;
    let scale = 1.0 + uncertainty;
    let center = (share + uncertainty / 2.0) / scale;
    let reach = z * (share * (1.0 - share) / n + uncertainty / (4.0 * n)).sqrt() / scale;
    (center - reach, center + reach)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy 1.17.1, `scipy.stats.binomtest(passes, trials).proportion_ci(level, "wilson")`, and
    /// statsmodels 0.15.0, `proportion_confint(passes, trials, 1 - level, "wilson")`, which agree
    /// to the 15th digit.
    #[test]
    fn equals_scipy_and_statsmodels() {
        let golden = [
            (5, 5, 0.95, 0.565_517_535_216_825_1, 1.0),
            (0, 5, 0.95, 0.0, 0.434_482_464_783_174_76),
            (1, 1, 0.95, 0.206_549_314_377_237_45, 1.0),
            (
                3,
                10,
                0.95,
                0.107_791_267_406_301_02,
                0.603_221_852_538_854_6,
            ),
            (
                1,
                2,
                0.95,
                0.094_531_205_734_230_74,
                0.905_468_794_265_769_3,
            ),
            (
                812,
                1_000,
                0.95,
                0.786_606_812_588_782_1,
                0.835_005_290_116_231_4,
            ),
            (7, 9, 0.9, 0.503_642_782_376_754, 0.923_505_262_445_603_5),
            (7, 9, 0.99, 0.364_530_412_172_340_5, 0.955_267_033_732_957),
            (7, 9, 0.5, 0.672_243_627_205_012, 0.856_580_658_463_774_6),
            (
                49_999,
                100_000,
                0.999,
                0.494_787_503_141_417_9,
                0.505_192_499_023_860_9,
            ),
        ];
        for (passes, trials, level, low, high) in golden {
            let interval = wilson_interval(passes, trials, level);
            assert_eq!(interval.method, IntervalMethod::Wilson);
            assert!(
                (interval.low - low).abs() < 1e-14 && (interval.high - high).abs() < 1e-14,
                "{passes} of {trials} at {level}: {interval:?}"
            );
        }
    }

    /// The fourth line of the golden values.
    #[test]
    fn an_effective_sample_size_need_not_be_whole() {
        let whole = wilson_of_effective(0.3, 10.0, 0.95);
        assert!((whole.low - 0.107_791_267_406_301_02).abs() < 1e-14);
        assert!((whole.high - 0.603_221_852_538_854_6).abs() < 1e-14);
        let between = wilson_of_effective(0.3, 10.5, 0.95);
        assert!(between.low > whole.low && between.high < whole.high);
        assert!(wilson_of_effective(0.0, 7.5, 0.95).low.abs() < 1e-300);
    }

    #[test]
    fn no_passes_and_all_passes_have_exact_ends() {
        for trials in 1..200 {
            assert_eq!(
                wilson_interval(trials, trials, 0.95).high.to_bits(),
                1.0_f64.to_bits()
            );
            assert_eq!(
                wilson_interval(0, trials, 0.95).low.to_bits(),
                0.0_f64.to_bits()
            );
        }
    }
}
