//! Means, intervals and percentiles against numpy and scipy.

use std::num::NonZeroU32;

use evals_metrics::{
    Bootstrap, Interval, IntervalMethod, Mean, NoStatistic, Scale, Undefined, UndefinedAs,
    mean_interval,
};
use proptest::prelude::*;

fn values() -> Vec<f64> {
    (0..300)
        .map(|i| f64::from(i * i * 7 % 101) / 100.0)
        .collect()
}

#[test]
fn the_interval_equals_scipys() {
    // scipy 1.17.1: scipy.stats.bootstrap((values,), numpy.mean, method="percentile",
    // n_resamples=400_000). The tolerance is five standard errors of a quantile from 10,000
    // resamples.
    let interval = Bootstrap::default().percentile_interval(&values()).unwrap();
    assert!((interval.low - 0.4703).abs() < 0.0022, "{interval:?}");
    assert!((interval.high - 0.5332).abs() < 0.0022, "{interval:?}");
}

/// Two resampled values of 0 and 2 have the mean 0 and 2 in a quarter of all cases each, else 1.
#[test]
fn the_interval_cuts_off_both_tails() {
    let at = |level| {
        let bootstrap = Bootstrap {
            level,
            ..Bootstrap::default()
        };
        bootstrap.percentile_interval(&[0.0, 2.0]).unwrap()
    };
    assert_eq!(
        at(0.6),
        Interval {
            low: 0.0,
            high: 2.0,
            level: 0.6,
            method: IntervalMethod::Bootstrap,
        }
    );
    assert_eq!(
        at(0.4),
        Interval {
            low: 1.0,
            high: 1.0,
            level: 0.4,
            method: IntervalMethod::Bootstrap,
        }
    );
}

#[test]
fn the_seed_decides_the_interval() {
    let seeded = |seed| {
        Bootstrap {
            seed,
            ..Bootstrap::default()
        }
        .percentile_interval(&values())
    };
    assert_eq!(seeded(1), seeded(1));
    assert_ne!(seeded(1), seeded(2));
}

/// A seed has to give the same samples in every version, or reports would not be comparable. A
/// second implementation, in Python, draws the means 33, 20, 8 and 33 here.
#[test]
fn a_seed_keeps_its_meaning() {
    let bootstrap = Bootstrap {
        resamples: NonZeroU32::new(4).unwrap(),
        level: 0.5,
        seed: 42,
    };
    let interval = bootstrap.percentile_interval(&[0.0, 5.0, 15.0, 35.0, 75.0]);
    let expected = Interval {
        low: 17.0,
        high: 33.0,
        level: 0.5,
        method: IntervalMethod::Bootstrap,
    };
    assert_eq!(interval, Some(expected));
}

#[test]
fn equal_values_have_no_interval() {
    let bootstrap = Bootstrap::default();
    assert_eq!(bootstrap.percentile_interval(&[]), None);
    assert_eq!(bootstrap.percentile_interval(&[0.5]), None);
    assert_eq!(bootstrap.percentile_interval(&[0.5; 100]), None);
    assert_eq!(bootstrap.percentile_interval(&[0.5, f64::NAN]), None);
    assert_eq!(bootstrap.percentile_interval(&[0.0, f64::INFINITY]), None);
    for level in [0.0, 1.0, -0.5, f64::NAN] {
        assert_eq!(
            Bootstrap { level, ..bootstrap }.percentile_interval(&[0.0, 1.0]),
            None
        );
    }
}

/// Above 10,000 values the resamples draw from several streams. The same second implementation draws
/// the first 250 and the last 50 means from two of them.
#[test]
fn a_seed_keeps_its_meaning_for_many_values() {
    let bootstrap = Bootstrap {
        resamples: NonZeroU32::new(300).unwrap(),
        level: 0.95,
        seed: 42,
    };
    let values: Vec<f64> = (0..10_001_u32).map(|i| f64::from(i * i % 7)).collect();
    let interval = bootstrap.percentile_interval(&values).unwrap();
    assert!((interval.low - 1.968_883_111_688_831).abs() < 1e-12);
    assert!((interval.high - 2.024_470_052_994_700_6).abs() < 1e-12);
}

/// scipy 1.17.1: `scipy.stats.binomtest(passes, 5).proportion_ci(0.95, "wilson")`. The bootstrap
/// would report no uncertainty.
#[test]
fn passes_and_failures_get_wilsons_interval() {
    let ends = |values: &[f64]| {
        let interval = mean_interval(values, None, Scale::Open, &Bootstrap::default()).unwrap();
        assert_eq!(interval.method, IntervalMethod::Wilson);
        (interval.low, interval.high)
    };
    let (low, high) = ends(&[1.0; 5]);
    assert!((low - 0.565_517_535_216_825_1).abs() < 1e-14);
    assert!((high - 1.0).abs() < f64::EPSILON);
    let (low, high) = ends(&[0.0, 0.0, -0.0, 0.0, 0.0]);
    assert!(low.abs() < f64::EPSILON);
    assert!((high - 0.434_482_464_783_174_76).abs() < 1e-14);
}

#[test]
fn an_interval_stores_its_method_and_older_files_read_back() {
    let interval = Bootstrap::default().percentile_interval(&[0.0, 1.0]);
    let interval = interval.unwrap();
    let json = serde_json::to_value(interval).unwrap();
    assert_eq!(json["method"], "bootstrap");
    assert_eq!(serde_json::from_value::<Interval>(json).unwrap(), interval);

    let old: Interval = serde_json::from_str(r#"{"low":0.1,"high":0.2,"level":0.95}"#).unwrap();
    assert_eq!(old.method, IntervalMethod::Bootstrap);
}

#[test]
fn values_near_the_greatest_float_have_a_mean_and_an_interval() {
    let results = [1e308, 1.7e308].map(Ok::<_, Undefined>);
    let mean = Mean::over(
        results,
        UndefinedAs::Excluded,
        Scale::Amount,
        &Bootstrap::default(),
    );
    assert_eq!(mean.value, Some(1.35e308));
    // A quarter of the resamples holds only the first value, a quarter only the second.
    let interval = mean.interval.unwrap();
    assert_eq!(
        (interval.low.to_bits(), interval.high.to_bits()),
        (1e308_f64.to_bits(), 1.7e308_f64.to_bits())
    );
}

proptest! {
    #[test]
    fn finite_values_have_a_finite_mean_within_them(
        values in prop::collection::vec(prop::num::f64::NORMAL | prop::num::f64::ZERO, 1..20),
    ) {
        let bootstrap = Bootstrap {
            resamples: NonZeroU32::new(50).unwrap(),
            ..Bootstrap::default()
        };
        let results = values.iter().copied().map(Ok::<_, Undefined>);
        let mean = Mean::over(results, UndefinedAs::Excluded, Scale::Open, &bootstrap);
        prop_assert_eq!(mean.n, values.len());
        prop_assert!(mean.value.unwrap().is_finite());
        if let Some(Interval { low, high, .. }) = mean.interval {
            prop_assert!(low.is_finite() && high.is_finite() && low <= high, "{low} {high}");
        }
    }
}

#[test]
fn a_mean_of_no_values_is_not_zero() {
    let results = [
        Err::<f64, _>(Undefined::NoRelevantDocuments),
        Err(Undefined::EmptyRanking),
    ];
    let mean = Mean::over(
        results,
        UndefinedAs::Excluded,
        Scale::Open,
        &Bootstrap::default(),
    );
    let json = serde_json::to_string(&mean).unwrap();
    assert_eq!(
        json,
        r#"{"value":null,"n":0,"excluded":{"empty ranking":1,"no relevant documents":1},"interval":null}"#
    );
    assert_eq!(serde_json::from_str::<Mean>(&json).unwrap(), mean);
}

#[test]
fn both_policies_exclude_values_that_are_not_finite() {
    for policy in [UndefinedAs::Excluded, UndefinedAs::Zero] {
        let results = [Ok::<_, Undefined>(f64::NAN), Ok(f64::INFINITY), Ok(0.5)];
        let mean = Mean::over(results, policy, Scale::Share, &Bootstrap::default());
        assert_eq!((mean.value, mean.n, mean.interval), (Some(0.5), 1, None));
        assert_eq!(mean.excluded["not a finite number"], 2);
    }
}

#[test]
fn reasons_serialise_in_kebab_case() {
    let json = serde_json::to_string(&Undefined::NoRelevantDocuments).unwrap();
    assert_eq!(json, "\"no-relevant-documents\"");
}

// scipy 1.17.1: scipy.stats.t.interval(0.95, 3, mean, sem) is [0.0906534, 1.0093466].
#[test]
fn scores_get_students_interval_within_the_scale() {
    let of = |values: &[f64], scale| mean_interval(values, None, scale, &Bootstrap::default());
    let scores = [0.2, 0.5, 0.6, 0.9];
    let open = of(&scores, Scale::Open).unwrap();
    assert_eq!(open.method, IntervalMethod::StudentT);
    assert!((open.low - 0.090_653_4).abs() < 1e-5 && (open.high - 1.009_346_6).abs() < 1e-5);
    let share = of(&scores, Scale::Share).unwrap();
    assert_eq!(
        (share.low.to_bits(), share.high.to_bits()),
        (open.low.to_bits(), 1_f64.to_bits())
    );
    // A measure of that name may be another one.
    let grades = of(&[2.0, 5.0, 6.0, 9.0], Scale::Share).unwrap();
    assert!(grades.high > 10.0);
    assert_eq!(
        of(&[0.1 + 0.2, 0.3], Scale::Share),
        Err(NoStatistic::NoSpread)
    );
    assert_eq!(of(&[0.3], Scale::Share), Err(NoStatistic::OneValue));
    let amounts = of(&scores, Scale::Amount).unwrap();
    assert_eq!(amounts.method, IntervalMethod::Bootstrap);
    assert_eq!(of(&[0.0; 20], Scale::Amount), Err(NoStatistic::NoSpread));
}

#[test]
fn values_in_clusters_get_the_interval_of_clusters() {
    let settings = Bootstrap::default();
    let of =
        |values: &[f64], scale| mean_interval(values, Some(&[0, 0, 1, 1, 2, 2]), scale, &settings);
    for values in [
        [0.0, 0.1, 0.5, 0.6, 0.9, 0.8],
        [1.0, 1.0, 1.0, 0.0, 0.0, 0.0],
    ] {
        let found = of(&values, Scale::Share).unwrap();
        assert_eq!(found.method, IntervalMethod::ClusterCr2);
        assert!(found.low >= 0.0 && found.high <= 1.0, "{found:?}");
    }
    let amounts = of(&[0.0, 0.1, 0.5, 0.6, 0.9, 0.8], Scale::Amount).unwrap();
    assert_eq!(amounts.method, IntervalMethod::ClusterBootstrap);
    // Six passes in three clusters are as good as three.
    let three = mean_interval(&[1.0; 3], None, Scale::Share, &settings);
    assert_eq!(of(&[1.0; 6], Scale::Share), three);
}
