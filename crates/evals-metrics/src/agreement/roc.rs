//! The area under the ROC curve of a judge's scores.

use super::Estimate;
use crate::arithmetic::as_f64;
use crate::distribution::upper_quantile;
use crate::{Interval, IntervalMethod};

/// The area under the ROC curve: the probability that a judge scores an answer that people pass higher than one that they fail, with half
/// of the ties. 0.5 is chance. `None` unless people passed some answers and failed others.
///
/// The interval is the normal approximation, cut to 0 and 1, with the standard error of Hanley and `McNeil`, "The Meaning and Use of the Area
/// under a Receiver Operating Characteristic (ROC) Curve", Radiology 143 (1982), equation 1. There is none if the area is 0 or 1.
///
/// ```
/// let found = evals_metrics::roc_area(&[1.0, 0.5], &[0.5, 0.0], 0.95).unwrap();
/// assert_eq!(found.value, 0.875);
/// ```
pub fn roc_area(passed: &[f64], failed: &[f64], level: f64) -> Option<Estimate> {
    if passed.is_empty() || failed.is_empty() {
        return None;
    }
    let mut ascending = failed.to_vec();
    ascending.sort_by(f64::total_cmp);
    let above = passed.iter().map(|score| {
        let lower = ascending.partition_point(|other| other < score);
        let not_higher = ascending.partition_point(|other| other <= score);
        as_f64(lower + not_higher) / 2.0
    });
    let (p, f) = (as_f64(passed.len()), as_f64(failed.len()));
    let area = above.sum::<f64>() / (p * f);
    let both_passed = area / (2.0 - area) - area * area;
    let both_failed = 2.0 * area * area / (1.0 + area) - area * area;
    let variance = area * (1.0 - area) + (p - 1.0) * both_passed + (f - 1.0) * both_failed;
    let interval = (variance > super::kappa::NO_VARIANCE).then(|| {
        let reach = upper_quantile((1.0 - level) / 2.0) * (variance / (p * f)).sqrt();
        Interval {
            low: (area - reach).max(0.0),
            high: (area + reach).min(1.0),
            level,
            method: IntervalMethod::Asymptotic,
        }
    });
    Some(Estimate {
        value: area,
        n: passed.len() + failed.len(),
        interval,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_count_half_and_perfect_scores_have_no_interval() {
        let area = |passed: &[f64], failed: &[f64]| roc_area(passed, failed, 0.95).unwrap();
        let perfect = area(&[0.9, 0.8], &[0.2]);
        assert_eq!(
            (perfect.value.to_string(), perfect.interval),
            ("1".to_owned(), None)
        );
        assert_eq!(area(&[1.0; 3], &[1.0; 2]).value.to_string(), "0.5");
        assert_eq!(area(&[0.0], &[1.0]).value.to_string(), "0");
        assert_eq!(roc_area(&[], &[1.0], 0.95), None);
    }

    /// Hanley and `McNeil`'s own example: 51 abnormal and 58 normal images, rated from 1 to 5. They report an area of 0.893 and a standard
    /// error of 0.032.
    #[test]
    fn the_example_of_hanley_and_mcneil() {
        let scores = |counts: [usize; 5]| -> Vec<f64> {
            let counts = counts.into_iter().zip([1.0, 2.0, 3.0, 4.0, 5.0]);
            counts.flat_map(|(n, score)| vec![score; n]).collect()
        };
        let found = roc_area(&scores([3, 2, 2, 11, 33]), &scores([33, 6, 6, 11, 2]), 0.95);
        let found = found.unwrap();
        let error = (found.value - found.interval.unwrap().low) / 1.959_964;
        assert_eq!(format!("{:.3} {error:.3}", found.value), "0.893 0.032");
    }
}
