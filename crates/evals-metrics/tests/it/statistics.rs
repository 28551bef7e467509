use std::num::NonZeroU32;

use evals_metrics::{Bootstrap, Interval, Mean, Undefined, UndefinedAs};

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
    let interval = Bootstrap::default().mean_interval(&values()).unwrap();
    assert!((interval.low - 0.4703).abs() < 0.0022, "{interval:?}");
    assert!((interval.high - 0.5332).abs() < 0.0022, "{interval:?}");
}

/// Two resampled values of 0 and 1 have the mean 0 and 1 in a quarter of all cases each, else 0.5.
#[test]
fn the_interval_cuts_off_both_tails() {
    let at = |level| {
        let bootstrap = Bootstrap {
            level,
            ..Bootstrap::default()
        };
        bootstrap.mean_interval(&[0.0, 1.0]).unwrap()
    };
    assert_eq!(
        at(0.6),
        Interval {
            low: 0.0,
            high: 1.0,
            level: 0.6
        }
    );
    assert_eq!(
        at(0.4),
        Interval {
            low: 0.5,
            high: 0.5,
            level: 0.4
        }
    );
}

#[test]
fn the_seed_decides() {
    let seeded = |seed| {
        Bootstrap {
            seed,
            ..Bootstrap::default()
        }
        .mean_interval(&values())
    };
    assert_eq!(seeded(1), seeded(1));
    assert_ne!(seeded(1), seeded(2));
}

/// Reports of different versions are comparable only while a seed keeps its meaning. A second
/// implementation, in Python, draws the means 33, 20, 8 and 33 here.
#[test]
fn a_seed_keeps_its_meaning() {
    let bootstrap = Bootstrap {
        resamples: NonZeroU32::new(4).unwrap(),
        level: 0.5,
        seed: 42,
    };
    let interval = bootstrap.mean_interval(&[0.0, 5.0, 15.0, 35.0, 75.0]);
    let expected = Interval {
        low: 17.0,
        high: 33.0,
        level: 0.5,
    };
    assert_eq!(interval, Some(expected));
}

#[test]
fn there_is_no_interval_without_spread_to_see() {
    let bootstrap = Bootstrap::default();
    assert_eq!(bootstrap.mean_interval(&[]), None);
    assert_eq!(bootstrap.mean_interval(&[0.5]), None);
    for level in [0.0, 1.0, -0.5, f64::NAN] {
        assert_eq!(
            Bootstrap { level, ..bootstrap }.mean_interval(&[0.0, 1.0]),
            None
        );
    }
}

#[test]
fn a_mean_of_nothing_is_not_zero() {
    let results = [
        Err::<f64, _>(Undefined::NoRelevantDocuments),
        Err(Undefined::EmptyRanking),
    ];
    let mean = Mean::over(results, UndefinedAs::Excluded, &Bootstrap::default());
    let json = serde_json::to_string(&mean).unwrap();
    assert_eq!(
        json,
        r#"{"value":null,"n":0,"excluded":{"empty ranking":1,"no relevant documents":1},"interval":null}"#
    );
    assert_eq!(serde_json::from_str::<Mean>(&json).unwrap(), mean);
}

#[test]
fn what_is_not_a_number_is_left_out_in_either_policy() {
    for policy in [UndefinedAs::Excluded, UndefinedAs::Zero] {
        let results = [Ok::<_, Undefined>(f64::NAN), Ok(f64::INFINITY), Ok(0.5)];
        let mean = Mean::over(results, policy, &Bootstrap::default());
        assert_eq!((mean.value, mean.n, mean.interval), (Some(0.5), 1, None));
        assert_eq!(mean.excluded["not a finite number"], 2);
    }
}

#[test]
fn reasons_serialise_in_kebab_case() {
    let json = serde_json::to_string(&Undefined::NoRelevantDocuments).unwrap();
    assert_eq!(json, "\"no-relevant-documents\"");
}
