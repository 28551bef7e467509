//! The interval of a mean difference. Its method depends on the differences.

use evals_metrics::{Bootstrap, Interval, IntervalChoice, NoStatistic, tango_interval};

use crate::pair_testing::are_verdicts;
use crate::summary::count;

/// The confidence interval of the mean difference of pairs, second value minus first. `is_share` says whether the measure allows only values
/// from 0 to 1.
///
/// Passes and failures get Tango's score interval, and other values Student's t. For equal differences, Student's t would have no width. Their
/// interval assumes that as many other cases differ as n equal ones allow, and that each of these gains or loses the whole scale. `None`
/// for equal differences of a measure without a known scale: other cases could change by any amount.
pub(super) fn interval(
    pairs: &[(f64, f64)],
    differences: &[f64],
    is_share: bool,
    level: f64,
) -> Option<Interval> {
    let settings = Bootstrap {
        level,
        ..Bootstrap::default()
    };
    let student = IntervalChoice::StudentT.interval(differences, &settings);
    let is_uniform = matches!(student, Err(NoStatistic::NoSpread | NoStatistic::OneValue));
    if is_uniform && !is_share {
        return None;
    }
    if are_verdicts(pairs) {
        let number = |is: fn(f64) -> bool| differences.iter().filter(|it| is(**it)).count();
        let [gained, lost] = [number(|it| it > 0.0), number(|it| it < 0.0)];
        return tango_interval(gained, lost, pairs.len(), level).ok();
    }
    if is_uniform {
        return uniform(differences, &settings);
    }
    student.ok()
}

/// The exact interval of equal differences of values from 0 to 1. If all n cases change alike, at most the share 1 - α^(1/n) of all cases
/// may change differently: Clopper and Pearson's limit for 0 of n.
fn uniform(differences: &[f64], settings: &Bootstrap) -> Option<Interval> {
    let n = differences.len();
    let none = IntervalChoice::ClopperPearson.interval(&vec![0.0; n], settings);
    let none = none.ok()?;
    let (unlike, mean) = (none.high, differences.iter().sum::<f64>() / count(n));
    Some(Interval {
        low: (1.0 - unlike) * mean - unlike,
        high: (1.0 - unlike) * mean + unlike,
        ..none
    })
}

#[cfg(test)]
mod tests {
    use evals_metrics::IntervalMethod;

    use super::*;

    fn of(pairs: &[(f64, f64)], is_share: bool) -> Option<Interval> {
        let differences: Vec<f64> = pairs.iter().map(|(before, after)| after - before).collect();
        interval(pairs, &differences, is_share, 0.95)
    }

    #[test]
    fn verdicts_get_tangos_interval_and_scores_students() {
        let mut verdicts = vec![(1.0, 1.0); 300];
        verdicts[..8].fill((1.0, 0.0));
        for is_share in [true, false] {
            let found = of(&verdicts, is_share).unwrap();
            assert_eq!(found.method, IntervalMethod::Tango);
            assert_eq!(format!("{:.4}", found.low), "-0.0517");
        }
        verdicts[0] = (0.5, 0.0);
        assert_eq!(
            of(&verdicts, true).unwrap().method,
            IntervalMethod::StudentT
        );
    }

    #[test]
    fn equal_differences_leave_a_share_of_unlike_cases() {
        // 1 - 0.025^(1/100) = 0.0362. The others lose 0.25: 0.9638 * 0.25 = 0.2410.
        let found = of(&[(0.75, 0.5); 100], true).unwrap();
        assert_eq!(
            format!("{:.4} {:.4}", found.low, found.high),
            "-0.2772 -0.2047"
        );
        // No verdict changed: z² / (n + z²) with z = 1.96.
        let found = of(&[(1.0, 1.0); 2], true).unwrap();
        assert_eq!(
            format!("{:.4} {:.4}", found.low, found.high),
            "-0.6576 0.6576"
        );
        for pairs in [[(1.0, 1.0); 9], [(3.0, 2.5); 9]] {
            assert_eq!(of(&pairs, false), None, "a grade may have any value");
        }
    }
}
