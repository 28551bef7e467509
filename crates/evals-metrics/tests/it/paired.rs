//! The paired test against values from scipy and statsmodels.

use std::num::NonZeroU32;

use evals_metrics::{PairedDifference, PairedTest, TestMethod, holm};
use proptest::prelude::*;

/// Compares `differences` with zeros.
fn change(differences: &[f64]) -> PairedDifference {
    let pairs: Vec<_> = differences.iter().map(|value| (0.0, *value)).collect();
    PairedTest::default().compare(&pairs).unwrap()
}

#[track_caller]
fn assert_close(left: f64, right: f64, tolerance: f64) {
    assert!((left - right).abs() <= tolerance, "{left} is not {right}");
}

// scipy 1.17.1: scipy.stats.permutation_test((differences,), mean, permutation_type="samples", n_resamples=inf).
#[test]
fn few_differences_have_scipys_exact_p_value() {
    let fractions = [
        0.12, -0.05, 0.31, 0.0, 0.08, -0.21, 0.4, 0.17, -0.02, 0.05, 0.11, 0.03,
    ];
    let found = change(&fractions);
    assert!(found.is_exact);
    assert_close(found.p_value, 0.112_304_687_5, 1e-15);
    assert_close(found.difference, 0.0825, 1e-15);
    assert_eq!((found.greater, found.less, found.equal()), (8, 3, 1));
    let whole = [
        3.0, -1.0, 4.0, -1.0, 5.0, -9.0, 2.0, 6.0, -5.0, 3.0, 5.0, 8.0, 9.0, 7.0,
    ];
    assert_close(change(&whole).p_value, 0.090_332_031_25, 1e-15);
}

// The same with n_resamples=999_999, three times: 0.04988, 0.04956, 0.05006. The tolerance is five standard errors of 100,000
// draws.
#[test]
fn many_differences_have_scipys_p_value_within_sampling_error() {
    let differences: Vec<f64> = (0..300)
        .map(|i| f64::from(i * i * 7 % 101) / 100.0 - 0.47)
        .collect();
    let found = change(&differences);
    assert!(!found.is_exact);
    assert_close(found.p_value, 0.0498, 0.0035);
    assert_eq!(found, change(&differences), "the same seed");
}

// scipy 1.17.1: scipy.stats.binomtest(k, n).pvalue.
#[test]
fn passes_and_failures_have_mcnemars_exact_p_value() {
    for (greater, n, expected) in [
        (37, 100, 0.012_032_975_725_363_479),
        (4_500, 9_200, 0.038_006_880_018_679_6),
        (3, 5, 1.0),
        (0, 1, 1.0),
        (10, 20, 1.0),
        (900, 5_000, 0.0),
    ] {
        let mut differences = vec![1.0; greater];
        differences.resize(n, -1.0);
        differences.resize(n + 17, 0.0);
        let found = change(&differences);
        assert!(found.is_exact);
        assert_close(found.p_value, expected, 1e-9 * expected.max(1e-6));
    }
}

#[test]
fn a_test_of_passes_and_failures_is_named_mcnemars() {
    let method = |pairs: &[(f64, f64)]| PairedTest::default().compare(pairs).unwrap().method;
    assert_eq!(method(&[(0.0, 1.0), (1.0, 1.0)]), TestMethod::ExactMcNemar);
    let half = method(&[(0.0, 1.0), (0.5, 1.0)]);
    assert_eq!(half.to_string(), "Fisher's randomization test");
    let written = serde_json::to_string(&TestMethod::ExactMcNemar).unwrap();
    assert_eq!(written, r#""exact-mcnemar""#);
}

#[test]
fn unchanged_cases_have_a_p_value_of_1() {
    let found = PairedTest::default().compare(&[(0.3, 0.3); 40]).unwrap();
    assert_eq!((found.p_value, found.difference), (1.0, 0.0));
    assert_eq!(found.interval, None, "no spread");
    assert_eq!(found.equal(), 40);
}

#[test]
fn rounding_errors_are_not_a_change() {
    let seventh = [0.2; 7].iter().sum::<f64>() / 7.0;
    assert!(seventh.to_bits() != 0.2_f64.to_bits(), "rounded");
    let found = PairedTest::default()
        .compare(&[(0.2, seventh); 12])
        .unwrap();
    assert_eq!((found.p_value, found.equal()), (1.0, 12));
    let tiny = PairedTest::default()
        .compare(&[(1e-300, 2e-300); 12])
        .unwrap();
    assert_eq!(tiny.greater, 12, "small values differ all the same");
}

#[test]
fn empty_and_non_finite_input_gives_no_comparison() {
    assert_eq!(PairedTest::default().compare(&[]), None);
    for pair in [(f64::NAN, 0.0), (0.0, f64::INFINITY), (-f64::MAX, f64::MAX)] {
        assert_eq!(PairedTest::default().compare(&[(0.0, 1.0), pair]), None);
    }
}

#[test]
fn the_interval_is_that_of_the_difference() {
    let pairs: Vec<_> = (0..200)
        .map(|i| f64::from(i % 10) / 10.0)
        .enumerate()
        .map(|(i, value)| {
            (
                value,
                value + 0.01 * f64::from(u8::try_from(i % 3).unwrap()),
            )
        })
        .collect();
    let found = PairedTest::default().compare(&pairs).unwrap();
    let interval = found.interval.unwrap();
    assert!(0.008 < interval.low && interval.low < found.difference);
    assert!(found.difference < interval.high && interval.high < 0.012);
    assert!(found.p_value < 1e-4);
}

// R 4.4: p.adjust(c(0.005, 0.01, 0.03, 0.04, 0.9), "holm").
#[test]
fn holms_correction_equals_rs() {
    let adjusted = holm(&[0.03, 0.005, 0.9, 0.01, 0.04]);
    for (left, right) in adjusted.iter().zip([0.09, 0.025, 0.9, 0.04, 0.09]) {
        assert_close(*left, right, 1e-12);
    }
    assert!(holm(&[]).is_empty());
}

proptest! {
    #[test]
    fn swapping_the_sides_negates_the_difference(
        pairs in proptest::collection::vec((-1.0..1.0, -1.0..1.0), 1..60)
    ) {
        let back: Vec<_> = pairs.iter().map(|(before, after)| (*after, *before)).collect();
        let test = PairedTest {
            resamples: NonZeroU32::new(1_000).unwrap(),
            ..PairedTest::default()
        };
        let (there, back) = (test.compare(&pairs).unwrap(), test.compare(&back).unwrap());
        prop_assert_eq!(there.p_value.to_bits(), back.p_value.to_bits());
        prop_assert!((there.difference + back.difference).abs() < 1e-12);
        prop_assert_eq!((there.greater, there.less), (back.less, back.greater));
        prop_assert!((0.0..=1.0).contains(&there.p_value));
    }

    #[test]
    fn the_unit_does_not_matter(
        differences in proptest::collection::vec(-1.0..1.0, 1..18), unit in -300..300
    ) {
        let scale = 10_f64.powi(unit);
        let scaled: Vec<f64> = differences.iter().map(|value| value * scale).collect();
        let (one, other) = (change(&differences).p_value, change(&scaled).p_value);
        prop_assert_eq!(one.to_bits(), other.to_bits());
    }
}
