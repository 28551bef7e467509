//! The paired test against values from scipy and statsmodels.

use std::num::NonZeroU32;

use evals_metrics::{
    Bootstrap, IntervalMethod, NoStatistic, PairTest, PairedDifference, PairedTest, Scale,
    TestMethod, holm, mean_interval,
};
use proptest::prelude::*;

/// Compares by a test.
fn by(method: PairTest, pairs: &[(f64, f64)]) -> Option<PairedDifference> {
    let test = PairedTest {
        method,
        ..PairedTest::default()
    };
    test.compare(pairs, None, Scale::Open)
}

/// Compares `differences` with zeros by the randomization test.
fn change(differences: &[f64]) -> PairedDifference {
    let pairs: Vec<_> = differences.iter().map(|value| (0.0, *value)).collect();
    by(PairTest::Randomization, &pairs).unwrap()
}

fn p_value(differences: &[f64]) -> f64 {
    change(differences).p_value.unwrap()
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
    assert_close(found.p_value.unwrap(), 0.112_304_687_5, 1e-15);
    assert_close(found.difference, 0.0825, 1e-15);
    assert_eq!((found.greater, found.less, found.equal()), (8, 3, 1));
    let whole = [
        3.0, -1.0, 4.0, -1.0, 5.0, -9.0, 2.0, 6.0, -5.0, 3.0, 5.0, 8.0, 9.0, 7.0,
    ];
    assert_close(p_value(&whole), 0.090_332_031_25, 1e-15);
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
    assert_close(found.p_value.unwrap(), 0.0498, 0.0035);
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
        assert_close(found.p_value.unwrap(), expected, 1e-9 * expected.max(1e-6));
    }
}

#[test]
fn a_test_of_passes_and_failures_is_named_mcnemars() {
    let method = |pairs: &[(f64, f64)]| by(PairTest::Randomization, pairs).unwrap().method;
    let verdicts = method(&[(0.0, 1.0), (1.0, 1.0)]);
    assert_eq!(verdicts, Some(TestMethod::ExactMcNemar));
    let half = method(&[(0.0, 1.0), (0.5, 1.0)]).unwrap();
    assert_eq!(half.to_string(), "Fisher's randomization test");
    let written = serde_json::to_string(&TestMethod::ExactMcNemar).unwrap();
    assert_eq!(written, r#""exact-mcnemar""#);
}

#[test]
fn clusters_of_one_case_each_are_no_clusters() {
    let pairs = verdicts([0, 8, 292]);
    let alone: Vec<usize> = (0..pairs.len()).rev().collect();
    let test = PairedTest::default();
    let infer = |clusters| test.infer(&pairs, clusters, Scale::Share);
    assert_eq!(infer(Some(&alone)), infer(None));
    let passes: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
    let mean = |clusters| mean_interval(&passes, clusters, Scale::Share, &Bootstrap::default());
    assert_eq!(mean(Some(&alone)), mean(None));
}

#[test]
fn unchanged_cases_have_no_p_value() {
    for method in METHODS {
        let found = by(method, &[(0.3, 0.3); 40]).unwrap();
        assert_eq!((found.p_value, found.difference), (None, 0.0));
        assert_eq!((found.interval, found.method), (None, None));
        assert_eq!(found.equal(), 40);
    }
}

#[test]
fn rounding_errors_are_not_a_change() {
    let seventh = [0.2; 7].iter().sum::<f64>() / 7.0;
    assert!(seventh.to_bits() != 0.2_f64.to_bits(), "rounded");
    let found = by(PairTest::Auto, &[(0.2, seventh); 12]).unwrap();
    assert_eq!((found.p_value, found.equal()), (None, 12));
    let tiny = by(PairTest::Auto, &[(1e-300, 2e-300); 12]).unwrap();
    assert_eq!(tiny.greater, 12, "small values differ all the same");
}

#[test]
fn empty_and_non_finite_input_gives_no_comparison() {
    for method in METHODS {
        assert_eq!(by(method, &[]), None);
        for pair in [(f64::NAN, 0.0), (0.0, f64::INFINITY), (-f64::MAX, f64::MAX)] {
            assert_eq!(by(method, &[(0.0, 1.0), pair]), None);
        }
    }
}

const METHODS: [PairTest; 5] = [
    PairTest::Auto,
    PairTest::Randomization,
    PairTest::T,
    PairTest::Wilcoxon,
    PairTest::Sign,
];

/// Pairs of verdicts: gained, lost and unchanged.
fn verdicts([gained, lost, unchanged]: [usize; 3]) -> Vec<(f64, f64)> {
    let mut pairs = vec![(0.0, 1.0); gained];
    pairs.extend(vec![(1.0, 0.0); lost]);
    pairs.extend(vec![(1.0, 1.0); unchanged]);
    pairs
}

// statsmodels 0.15.0: mcnemar([[10, gained], [lost, 10]], exact=False, correction=False).pvalue.
#[test]
fn verdicts_get_tangos_interval_and_its_score_test() {
    for (gained, lost, expected) in [
        (8, 1, 0.019_630_657_257_290_702),
        (0, 8, 0.004_677_734_981_047_276),
        (37, 63, 0.009_322_376_047_437_499),
        (5, 5, 1.0),
        (1, 0, 0.317_310_507_862_911_15),
        (4, 0, 0.045_500_263_896_358_57),
        (4_500, 4_700, 0.037_056_218_564_118_98),
    ] {
        let pairs = verdicts([gained, lost, 20]);
        let found = PairedTest::default().compare(&pairs, None, Scale::Share);
        let found = found.unwrap();
        assert_eq!(found.method, Some(TestMethod::Tango));
        assert_close(found.p_value.unwrap(), expected, 1e-12);
        let interval = found.interval.unwrap();
        assert_eq!(interval.method, IntervalMethod::Tango);
        let excludes = interval.low > 0.0 || interval.high < 0.0;
        assert_eq!(excludes, expected < 0.05, "{interval:?}");
    }
}

// scipy 1.17.1: scipy.stats.ttest_1samp(differences, 0), with its confidence_interval(0.95).
#[test]
fn scores_get_students_interval_and_the_paired_t_test() {
    let pairs = [0.1, 0.3, -0.1, 0.4, 0.2].map(|change| (0.5, 0.5 + change));
    let found = by(PairTest::Auto, &pairs).unwrap();
    assert_eq!(found.method, Some(TestMethod::PairedT));
    assert_close(found.p_value.unwrap(), 0.104_539_999_778_375_44, 1e-9);
    let interval = found.interval.unwrap();
    assert_eq!(interval.method, IntervalMethod::StudentT);
    assert_close(interval.low, -0.058_838_838_809_998_02, 1e-9);
    assert_eq!(by(PairTest::T, &pairs).unwrap(), found);
    // A share cannot change by more than 1.
    let two = PairedTest::default().compare(&[(0.1, 0.9), (0.5, 0.4)], None, Scale::Share);
    let two = two.unwrap().interval.unwrap();
    assert_eq!(
        (two.low.to_bits(), two.high.to_bits()),
        ((-1_f64).to_bits(), 1_f64.to_bits())
    );
}

#[test]
fn tests_of_ranks_and_signs_have_no_interval_of_the_mean() {
    for method in [PairTest::Wilcoxon, PairTest::Sign] {
        let found = by(method, &[(0.1, 0.9), (0.5, 0.4), (0.0, 0.3)]).unwrap();
        assert!(found.p_value.is_some());
        assert_eq!(
            (found.interval, found.no_interval),
            (None, Some(NoStatistic::NotOfMean))
        );
    }
}

#[test]
fn equal_changes_have_an_interval_where_the_scale_is_known() {
    let test = PairedTest::default();
    // 1 - 0.025^(1/100) = 0.0362. The others lose 1 more than 0.25, or gain it: 0.9638 * 0.25 = 0.2410.
    let share = test
        .compare(&[(0.75, 0.5); 100], None, Scale::Share)
        .unwrap();
    let interval = share.interval.unwrap();
    assert_eq!(interval.method, IntervalMethod::EqualChanges);
    assert_close(interval.low, -0.2772, 1e-4);
    assert_close(interval.high, -0.2047, 1e-4);
    assert_close(share.p_value.unwrap(), 2.0 * 1.25_f64.powi(-100), 1e-12);
    let unchanged = test.compare(&[(0.5, 0.5); 3], None, Scale::Share).unwrap();
    assert_close(
        unchanged.interval.unwrap().high,
        1.0 - 0.025_f64.cbrt(),
        1e-9,
    );
    assert_eq!(unchanged.p_value, None);
    // Grades may change by any amount: no interval, and the test that needs no scale.
    let rounded = [(0.2, 0.3), (0.1, 0.2), (1.0, 1.1), (0.3, 0.4)].repeat(2);
    let grades = test.compare(&rounded, None, Scale::Open).unwrap();
    assert_eq!(
        (grades.interval, grades.no_interval),
        (None, Some(NoStatistic::NoSpread))
    );
    assert_eq!(grades.p_value, Some(2.0 / 256.0));
    // Two runs that agree in every verdict: z² / (n + z²) with z = 1.96.
    let same = test
        .compare(&verdicts([0, 0, 3]), None, Scale::Share)
        .unwrap();
    assert_close(same.interval.unwrap().high, 0.5615, 1e-4);
}

#[test]
fn the_inverted_randomization_test_ends_where_its_p_value_crosses_the_level() {
    let differences = [
        0.12, -0.05, 0.31, 0.0, 0.08, -0.21, 0.4, 0.17, -0.02, 0.05, 0.11,
    ];
    let interval = change(&differences).interval.unwrap();
    assert_eq!(interval.method, IntervalMethod::Randomization);
    let shifted = |by: f64| {
        let values: Vec<f64> = differences.iter().map(|value| value - by).collect();
        PairedTest::default().p_value(&values).unwrap()
    };
    for (end, outwards) in [(interval.low, -1e-6), (interval.high, 1e-6)] {
        assert!(shifted(end + outwards) <= 0.05, "{end}");
        assert!(shifted(end - outwards) > 0.05, "{end}");
    }
    let five = change(&differences[..5]);
    assert_eq!(
        five.no_interval,
        Some(NoStatistic::TooFew { n: 5, least: 6 })
    );
}

#[test]
fn many_cases_have_the_inverted_test_within_sampling_error() {
    let pairs: Vec<(f64, f64)> = (0..300)
        .map(|i| (0.0, f64::from(i * i * 7 % 101) / 100.0 - 0.47))
        .collect();
    let [swaps, t] = [PairTest::Randomization, PairTest::T].map(|method| {
        let found = by(method, &pairs).unwrap();
        found.interval.unwrap()
    });
    assert_close(swaps.low, t.low, 0.002);
    assert_close(swaps.high, t.high, 0.002);
}

#[test]
fn files_without_a_method_are_of_the_randomization_test() {
    let old = r#"{"resamples":100000,"level":0.95,"seed":0}"#;
    let old: PairedTest = serde_json::from_str(old).unwrap();
    assert_eq!(old.method, PairTest::Randomization);
    let old = r#"{"n":2,"before":0.1,"after":0.2,"difference":0.1,"interval":null,"p_value":0.5,
        "is_exact":true,"greater":2,"less":0}"#;
    let old: PairedDifference = serde_json::from_str(old).unwrap();
    assert_eq!(
        (old.p_value, old.method),
        (Some(0.5), Some(TestMethod::Randomization))
    );
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
        let of = |pairs: &[(f64, f64)]| test.compare(pairs, None, Scale::Open).unwrap();
        let (there, back) = (of(&pairs), of(&back));
        let bits = |found: &PairedDifference| found.p_value.map(f64::to_bits);
        prop_assert_eq!(bits(&there), bits(&back));
        prop_assert!((there.difference + back.difference).abs() < 1e-12);
        prop_assert_eq!((there.greater, there.less), (back.less, back.greater));
        prop_assert!(there.p_value.is_none_or(|p| (0.0..=1.0).contains(&p)));
    }

    #[test]
    fn an_interval_excludes_0_exactly_if_p_is_below_the_level(
        sixths in proptest::collection::vec((0_i32..7, 0_i32..7), 1..40),
        bias in 0_i32..5, clusters in 1_usize..20, is_share: bool,
    ) {
        let pairs: Vec<(f64, f64)> = sixths
            .iter()
            .map(|(before, after)| (f64::from(*before) / 6.0, f64::from((after + bias).min(6)) / 6.0))
            .collect();
        let rounded: Vec<(f64, f64)> = pairs.iter().map(|it| (it.0.round(), it.1.round())).collect();
        let of_cases: Vec<usize> = (0..pairs.len()).map(|case| case % clusters).collect();
        let scale = if is_share { Scale::Share } else { Scale::Open };
        for method in [PairTest::Auto, PairTest::T, PairTest::Randomization] {
            let test = PairedTest { method, ..PairedTest::default() };
            for pairs in [&pairs, &rounded] {
                for clusters in [None, Some(&of_cases[..])] {
                    let found = test.compare(pairs, clusters, scale).unwrap();
                    let Some(interval) = found.interval else { continue };
                    let excludes = interval.low > 0.0 || interval.high < 0.0;
                    let p_value = found.p_value.unwrap_or(1.0);
                    prop_assert_eq!(excludes, p_value < 0.05, "{:?} {:?}", found, clusters);
                    let (low, high) = (interval.low - 1e-12, interval.high + 1e-12);
                    prop_assert!(low <= found.difference && found.difference <= high, "{:?}", found);
                }
            }
        }
    }

    #[test]
    fn the_unit_does_not_matter(
        differences in proptest::collection::vec(-1.0..1.0, 1..18), unit in -300..300
    ) {
        let scale = 10_f64.powi(unit);
        let scaled: Vec<f64> = differences.iter().map(|value| value * scale).collect();
        let (one, other) = (p_value(&differences), p_value(&scaled));
        prop_assert_eq!(one.to_bits(), other.to_bits());
    }
}
