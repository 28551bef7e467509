//! Tests, intervals, effect sizes, power and change points against scipy, statsmodels and pyhomogeneity.

use evals_metrics::{
    Alternative, Bootstrap, ChangePointTest, ClusterCorrection, Clusters, IntervalMethod,
    MeanPower, NoStatistic, PassRatePower, Plan, Scale, Sides, TestMethod, VerdictTest,
    benjamini_hochberg, clopper_pearson, cohens_dz, exact_mcnemar, hedges_g, mean_interval,
    paired_t, sign_test, tango_interval, wilcoxon,
};
use serde_json::Value;

use crate::golden_rows::{assert_close, count, number, numbers, rows};
use crate::random::Random;

/// Written by `golden/statistics.py`.
const GOLDEN: &str = include_str!("../golden/statistics.jsonl");
/// Written by `golden/clusters.py`.
const CLUSTERS: &str = include_str!("../golden/clusters.jsonl");
/// Written by `golden/tango.py`.
const TANGO: &str = include_str!("../golden/tango.jsonl");
const ALTERNATIVES: [Alternative; 3] = [
    Alternative::TwoSided,
    Alternative::Greater,
    Alternative::Less,
];

/// Differences of `n` cases. The same arithmetic is in `golden/statistics.py`.
fn sample(shape: &str, n: usize, seed: u64) -> Vec<f64> {
    let mut random = Random::seeded(seed);
    let value = |_| {
        let u = random.uniform();
        match shape {
            "verdicts" if u < 0.3 => 1.0,
            "verdicts" if u < 0.5 => -1.0,
            "verdicts" => 0.0,
            "bounded" => u - 0.375,
            "skewed" => u * u * u * u * u * u * u * u + u / 16.0 - 0.09375,
            "ties" => ((u * 7.0).floor() - 2.0) / 4.0,
            "constant" => 0.25,
            other => panic!("no shape `{other}`"),
        }
    };
    (0..n).map(value).collect()
}

struct Sample {
    row: Value,
    values: Vec<f64>,
}

fn samples() -> Vec<Sample> {
    let rows = rows(GOLDEN, "sample");
    assert_eq!(rows.len(), 600);
    let samples = rows.into_iter().map(|row| {
        let shape = row["shape"].as_str().unwrap();
        let values = sample(shape, count(&row["n"]), row["seed"].as_u64().unwrap());
        let sum = values.iter().sum::<f64>();
        assert_close(sum, number(&row["sum"]), &row["seed"]);
        Sample { row, values }
    });
    samples.collect()
}

#[test]
fn t_tests_equal_scipys() {
    for Sample { row, values } in samples() {
        let found = paired_t(&values, Alternative::TwoSided);
        let Some(expected) = row.get("t") else {
            let all_zero = values.iter().all(|value| *value == 0.0);
            let reason = if all_zero {
                NoStatistic::NothingChanged
            } else {
                NoStatistic::NoSpread
            };
            assert_eq!(found, Err(reason), "{row}");
            continue;
        };
        assert_close(found.unwrap().statistic, number(&expected[0]), &row);
        for (index, alternative) in ALTERNATIVES.into_iter().enumerate() {
            let p_value = paired_t(&values, alternative).unwrap().p_value;
            assert_close(p_value, number(&expected[index + 1]), &row);
        }
    }
}

#[test]
fn wilcoxons_test_equals_scipys() {
    let mut compared = [0, 0];
    for Sample { row, values } in samples() {
        let Some(expected) = row.get("wilcoxon") else {
            let found = wilcoxon(&values, Alternative::TwoSided);
            assert_eq!(found, Err(NoStatistic::NothingChanged));
            continue;
        };
        for (index, alternative) in ALTERNATIVES.into_iter().enumerate() {
            let found = wilcoxon(&values, alternative).unwrap();
            let Some(expected) = expected[index].as_array() else {
                continue;
            };
            let method = serde_json::to_value(found.method).unwrap();
            assert_eq!(method, expected[0], "{row}");
            assert_close(found.p_value, number(&expected[1]), &row);
            compared[usize::from(found.method == TestMethod::WilcoxonNormal)] += 1;
        }
    }
    assert!(compared[0] > 600 && compared[1] > 200, "{compared:?}");
}

#[test]
fn sign_tests_equal_scipys_and_mcnemars_statsmodels() {
    for Sample { row, values } in samples() {
        let Some(expected) = row.get("sign") else {
            continue;
        };
        for (index, alternative) in ALTERNATIVES.into_iter().enumerate() {
            let found = sign_test(&values, alternative).unwrap();
            assert_close(found.p_value, number(&expected[index]), &row);
        }
        if let Some(expected) = row.get("mcnemar") {
            let gained = values.iter().filter(|value| **value > 0.0).count();
            let lost = values.iter().filter(|value| **value < 0.0).count();
            let found = exact_mcnemar(gained, lost, Alternative::TwoSided).unwrap();
            assert_close(found.p_value, number(expected), &row);
        }
    }
}

#[test]
fn effect_sizes_invert_scipys_noncentral_t() {
    for Sample { row, values } in samples() {
        let Some(expected) = row.get("effect") else {
            continue;
        };
        let found = cohens_dz(&values, 0.95).unwrap();
        let interval = found.interval.unwrap();
        assert_close(found.value, number(&expected[0]), &row);
        assert_close(interval.low, number(&expected[1]), &row);
        assert_close(interval.high, number(&expected[2]), &row);
        let hedges = hedges_g(&values, 0.95);
        match expected[3].as_f64() {
            None => assert_eq!(hedges, Err(NoStatistic::TooFew { n: 2, least: 3 })),
            Some(correction) => {
                let hedges = hedges.unwrap();
                assert_close(hedges.value, correction * found.value, &row);
                let low = hedges.interval.unwrap().low;
                assert_close(low, correction * interval.low, &row);
            }
        }
    }
}

#[test]
fn students_interval_equals_scipys() {
    let settings = Bootstrap::default();
    for Sample { row, values } in samples() {
        let found = mean_interval(&values, None, Scale::Open, &settings);
        // A small sample of verdicts may lack losses by chance, and then has Wilson's interval.
        if found.is_ok_and(|it| it.method == IntervalMethod::Wilson) {
            continue;
        }
        let Some(expected) = row.get("student") else {
            assert_eq!(found, Err(NoStatistic::NoSpread), "{row}");
            continue;
        };
        let found = found.unwrap();
        assert_close(found.low, number(&expected[0]), &row);
        assert_close(found.high, number(&expected[1]), &row);
    }
}

#[test]
fn clopper_pearson_equals_scipys() {
    for row in rows(GOLDEN, "clopper-pearson") {
        let (passes, trials) = (count(&row["k"]), count(&row["n"]));
        let found = clopper_pearson(passes, trials, number(&row["level"])).unwrap();
        assert_close(found.low, number(&row["interval"][0]), &row);
        assert_close(found.high, number(&row["interval"][1]), &row);
    }
}

#[test]
fn the_power_of_a_t_test_equals_statsmodels() {
    let two_sided = MeanPower {
        deviation: 1.0,
        plan: Plan::default(),
    };
    for row in rows(GOLDEN, "t-power") {
        let sides = if row["alternative"] == "larger" {
            Sides::One
        } else {
            Sides::Two
        };
        let plan = Plan {
            sides,
            ..Plan::default()
        };
        let power = MeanPower { plan, ..two_sided };
        let found = power
            .power(number(&row["effect"]), count(&row["n"]))
            .unwrap();
        assert_close(found, number(&row["power"]), &row);
    }
    for row in rows(GOLDEN, "t-detectable") {
        let plan = Plan {
            power: number(&row["power"]),
            ..Plan::default()
        };
        let power = MeanPower { plan, ..two_sided };
        let found = power.detectable(count(&row["n"])).unwrap();
        assert_close(found, number(&row["effect"]), &row);
    }
    for row in rows(GOLDEN, "t-cases") {
        let found = two_sided.cases(number(&row["effect"])).unwrap();
        let found = f64::from(u32::try_from(found).unwrap());
        let expected = number(&row["n"]).ceil();
        assert!((found - expected).abs() < 0.5, "{found} in {row}");
    }
}

#[test]
fn the_power_of_mcnemars_test_is_the_sum_over_all_outcomes() {
    for row in rows(GOLDEN, "mcnemar-power") {
        let plan = Plan {
            sides: serde_json::from_value(row["sides"].clone()).unwrap(),
            ..Plan::default()
        };
        let power = PassRatePower {
            discordant: number(&row["discordant"]),
            plan,
            test: VerdictTest::Exact,
        };
        let found = power.power(number(&row["difference"]), count(&row["n"]));
        assert_close(found.unwrap(), number(&row["power"]), &row);
    }
}

/// Connor, "Sample Size for Testing Differences in Proportions for the Paired-Sample Design", Biometrics 43 (1987):
/// `(z_(α/2) √ψ + z_β √(ψ - δ²))² / δ²`, computed with scipy 1.17.1.
#[test]
fn many_cases_agree_with_connors_approximation() {
    for (discordant, difference, expected) in [(0.05, 0.002, 98_109.0), (0.2, 0.01, 15_695.0)] {
        let power = PassRatePower {
            discordant,
            plan: Plan::default(),
            test: VerdictTest::Exact,
        };
        let found = power.cases(difference).unwrap();
        let found = f64::from(u32::try_from(found).unwrap());
        // The exact test takes about 2 / δ cases more.
        let excess = found - expected;
        assert!(
            excess > 0.0 && excess < 2.5 / difference,
            "{found} for {expected}"
        );
    }
}

#[test]
fn benjamini_hochberg_equals_scipy() {
    for row in rows(GOLDEN, "benjamini-hochberg") {
        let adjusted = benjamini_hochberg(&numbers(&row["p_values"]));
        let expected = numbers(&row["adjusted"]);
        assert_eq!(adjusted.len(), expected.len());
        for (found, expected) in adjusted.into_iter().zip(expected) {
            assert_close(found, expected, &row);
        }
    }
}

#[test]
fn clusters_equal_statsmodels() {
    for row in rows(GOLDEN, "clusters") {
        let keys = row["keys"].as_array().unwrap().iter().map(count);
        let clusters = Clusters::new(keys.zip(numbers(&row["values"])));
        assert_close(clusters.mean().unwrap(), number(&row["mean"]), &row);
        let error = clusters.standard_error(ClusterCorrection::Cr1).unwrap();
        assert_close(error.value, number(&row["error"]), &row);
        let interval = clusters.interval(ClusterCorrection::Cr1, 0.95).unwrap();
        assert_close(interval.low, number(&row["interval"][0]), &row);
        assert_close(interval.high, number(&row["interval"][1]), &row);
        let test = clusters
            .t_test(ClusterCorrection::Cr1, Alternative::TwoSided)
            .unwrap();
        assert_close(test.statistic, number(&row["t"]), &row);
        assert_close(test.p_value, number(&row["p_value"]), &row);
        if let Some(expected) = row.get("bootstrap") {
            let settings = Bootstrap {
                resamples: 999.try_into().unwrap(),
                seed: row["seed"].as_u64().unwrap(),
                ..Bootstrap::default()
            };
            let found = clusters.bootstrap_interval(&settings).unwrap();
            assert_close(found.low, number(&expected[0]), &row);
            assert_close(found.high, number(&expected[1]), &row);
        }
    }
}

#[test]
fn clusters_of_different_sizes_equal_the_matrix_formula() {
    for row in rows(CLUSTERS, "cr2") {
        let keys = row["keys"].as_array().unwrap().iter().map(count);
        let clusters = Clusters::new(keys.zip(numbers(&row["values"])));
        let error = clusters.standard_error(ClusterCorrection::Cr2).unwrap();
        assert_close(error.value, number(&row["error"]), &row);
        assert_close(error.degrees, number(&row["degrees"]), &row);
        let interval = clusters.interval(ClusterCorrection::Cr2, 0.95).unwrap();
        assert_close(interval.low, number(&row["interval"][0]), &row);
        assert_close(interval.high, number(&row["interval"][1]), &row);
        let test = clusters.t_test(ClusterCorrection::Cr2, Alternative::TwoSided);
        assert_close(test.unwrap().p_value, number(&row["p_value"]), &row);
    }
}

/// The p values of both are simulated: 10,000 times here and 20,000 times there.
#[test]
fn pettitts_test_equals_pyhomogeneitys() {
    for row in rows(GOLDEN, "pettitt") {
        let found = ChangePointTest::default()
            .find(&numbers(&row["values"]))
            .unwrap();
        assert_eq!(found.first_after, count(&row["first_after"]), "{row}");
        assert_close(found.test.statistic, number(&row["statistic"]), &row);
        assert_close(found.before, number(&row["before"]), &row);
        assert_close(found.after, number(&row["after"]), &row);
        let Some(expected) = row["p_value"].as_f64() else {
            continue;
        };
        let error = (expected * (1.0 - expected) * (1.0 / 10_000.0 + 1.0 / 20_000.0)).sqrt();
        let distance = (found.test.p_value - expected).abs();
        assert!(
            distance < 5.0 * error + 2e-4,
            "{} in {row}",
            found.test.p_value
        );
    }
}

#[test]
fn tangos_interval_equals_a_numerical_solution() {
    for row in rows(TANGO, "tango") {
        let [gained, lost, n] = ["gained", "lost", "n"].map(|key| count(&row[key]));
        let found = tango_interval(gained, lost, n, number(&row["level"])).unwrap();
        assert_eq!(found.method, IntervalMethod::Tango);
        assert_close(found.low, number(&row["low"]), &row);
        assert_close(found.high, number(&row["high"]), &row);
    }
}
