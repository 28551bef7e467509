//! Input that has no statistic: each has its reason, and no number that looks fine.

use evals_metrics::{
    Alternative, Bootstrap, ChangePointTest, ClusterCorrection, Clusters, Confusion, JudgeLabels,
    LabelledValue, MeanPower, NoAgreement, NoCorrection, NoStatistic, PairedTest, PassRatePower,
    Plan, Scale, TestResult, VerdictCounts, VerdictTest, clopper_pearson, cohens_dz,
    double_sampling, exact_mcnemar, mean_interval, paired_t, prediction_powered,
    prediction_powered_rate, rogan_gladen, sign_test, tango_interval, wilcoxon,
};
use proptest::prelude::*;

type Test = fn(&[f64], Alternative) -> Result<TestResult, NoStatistic>;

const SCALES: [Scale; 3] = [Scale::Open, Scale::Share, Scale::Amount];

fn quick() -> Bootstrap {
    Bootstrap {
        resamples: 500.try_into().unwrap(),
        ..Bootstrap::default()
    }
}

#[test]
fn tests_without_a_change_or_without_values_are_undefined() {
    let tests: [Test; 3] = [paired_t, wilcoxon, sign_test];
    for test in tests {
        let found = |values: &[f64]| test(values, Alternative::TwoSided);
        assert_eq!(found(&[]), Err(NoStatistic::NoValues));
        assert_eq!(found(&[0.0; 40]), Err(NoStatistic::NothingChanged));
        assert_eq!(found(&[1.0, f64::NAN]), Err(NoStatistic::NotFinite));
        assert_eq!(found(&[1.0, f64::INFINITY]), Err(NoStatistic::NotFinite));
    }
    let single = paired_t(&[0.3], Alternative::TwoSided);
    assert_eq!(single, Err(NoStatistic::OneValue));
    let rounded = paired_t(&[0.3 - 0.2, 0.2 - 0.1, 0.1], Alternative::TwoSided);
    assert_eq!(
        rounded,
        Err(NoStatistic::NoSpread),
        "equal but for rounding"
    );
    let unchanged = exact_mcnemar(0, 0, Alternative::TwoSided);
    assert_eq!(unchanged, Err(NoStatistic::NothingChanged));
}

#[test]
fn intervals_without_spread_are_undefined_except_for_passes() {
    for scale in SCALES {
        let of = |values: &[f64]| mean_interval(values, None, scale, &quick());
        assert_eq!(of(&[]), Err(NoStatistic::NoValues));
        assert_eq!(of(&[0.5, f64::NAN]), Err(NoStatistic::NotFinite));
        assert_eq!(of(&[0.5]), Err(NoStatistic::OneValue));
        assert_eq!(of(&[1.0; 5]).is_ok(), scale != Scale::Amount);
        let level = Bootstrap {
            level: 1.0,
            ..quick()
        };
        let level = mean_interval(&[0.0, 1.0], None, scale, &level);
        assert_eq!(level, Err(NoStatistic::Level));
    }
    let all_pass = clopper_pearson(5, 5, 0.95).unwrap();
    // 0.025^(1/5)
    assert!(
        (all_pass.low - 0.478_176_249_769_1).abs() < 1e-9,
        "{all_pass:?}"
    );
    assert_eq!(all_pass.high.to_bits(), 1_f64.to_bits());
    assert_eq!(clopper_pearson(0, 0, 0.95), Err(NoStatistic::NoValues));
    assert_eq!(clopper_pearson(1, 2, 1.0), Err(NoStatistic::Level));
}

#[test]
fn clusters_that_show_nothing_are_undefined() {
    let one = Clusters::new([("a", 0.1), ("a", 0.4)]);
    assert_eq!(
        one.standard_error(ClusterCorrection::Cr2),
        Err(NoStatistic::OneCluster)
    );
    assert_eq!(
        one.interval(ClusterCorrection::Cr2, 0.95),
        Err(NoStatistic::OneCluster)
    );
    let test = one.randomization_test(&PairedTest::default());
    assert_eq!(test, Err(NoStatistic::OneCluster));

    let zeros = Clusters::new((0..9).map(|index| (index % 3, 0.0)));
    let test = zeros.t_test(ClusterCorrection::Cr2, Alternative::TwoSided);
    assert_eq!(test, Err(NoStatistic::NothingChanged));
    assert_eq!(
        zeros.interval(ClusterCorrection::Cr2, 0.95),
        Err(NoStatistic::NoSpread)
    );

    let balanced = Clusters::new([("a", 0.1), ("a", 0.3), ("b", 0.3), ("b", 0.1)]);
    assert_eq!(
        balanced.standard_error(ClusterCorrection::Cr2),
        Err(NoStatistic::NoSpread)
    );

    let empty = Clusters::new(Vec::<(&str, f64)>::new());
    assert_eq!(empty.mean(), Err(NoStatistic::NoValues));
}

#[test]
fn clusters_of_one_value_are_students_t() {
    let values = [0.2, 0.5, 0.6, 0.9, -0.4, 0.7];
    let clusters = Clusters::new(values.into_iter().enumerate());
    let (found, plain) = (
        clusters
            .t_test(ClusterCorrection::Cr2, Alternative::TwoSided)
            .unwrap(),
        paired_t(&values, Alternative::TwoSided).unwrap(),
    );
    assert!((found.p_value - plain.p_value).abs() < 1e-12);
}

#[test]
fn plans_out_of_range_are_refused() {
    let mean = MeanPower {
        deviation: 0.3,
        plan: Plan::default(),
    };
    assert_eq!(mean.cases(0.0), Err(NoStatistic::NoEffect));
    assert_eq!(mean.detectable(1), Err(NoStatistic::OneValue));
    let constant = MeanPower {
        deviation: 0.0,
        ..mean
    };
    assert_eq!(constant.detectable(30), Err(NoStatistic::NoDeviation));
    let weak = Plan {
        power: 0.04,
        ..Plan::default()
    };
    let weak = MeanPower { plan: weak, ..mean };
    assert_eq!(weak.detectable(30), Err(NoStatistic::Level));

    let rate = PassRatePower {
        discordant: 0.1,
        plan: Plan::default(),
        test: VerdictTest::Exact,
    };
    assert_eq!(rate.cases(0.2), Err(NoStatistic::AboveDiscordant));
    assert_eq!(rate.cases(0.0), Err(NoStatistic::NoEffect));
    assert_eq!(rate.detectable(20), Err(NoStatistic::OutOfReach));
    let still = PassRatePower {
        discordant: 0.0,
        ..rate
    };
    assert_eq!(still.detectable(100), Err(NoStatistic::NothingChanged));
}

#[test]
fn short_and_equal_series_have_no_change_point() {
    let test = ChangePointTest::default();
    let short = test.find(&[0.1, 0.2, 0.3]);
    assert_eq!(short, Err(NoStatistic::TooFew { n: 3, least: 8 }));
    assert_eq!(test.find(&[0.5; 12]), Err(NoStatistic::NoSpread));
    let message = short.unwrap_err().to_string();
    assert_eq!(
        message,
        "3 values are fewer than the 8 that the method needs"
    );
}

#[test]
fn two_steps_are_found_one_after_the_other() {
    let level = |index: u32| [0.9, 0.5, 0.7][usize::try_from(index / 20).unwrap()];
    let values: Vec<f64> = (0..60)
        .map(|index| level(index) + f64::from(index * 7 % 5) / 100.0)
        .collect();
    let found = ChangePointTest::default().find_all(&values, 0.01).unwrap();
    let places: Vec<usize> = found.iter().map(|change| change.first_after).collect();
    assert_eq!(places, [20, 40]);
}

const RUN: VerdictCounts = VerdictCounts {
    passes: 700,
    fails: 300,
};

fn labels([true_passes, false_passes, false_fails, true_fails]: [usize; 4]) -> Confusion {
    Confusion {
        true_passes,
        false_passes,
        false_fails,
        true_fails,
    }
}

#[test]
fn a_correction_without_enough_labels_is_refused() {
    let refused = |counts: [usize; 4]| {
        let labels = labels(counts);
        let random = JudgeLabels::Random(labels);
        let reason = rogan_gladen(&random, RUN, 0.95).unwrap_err();
        assert_eq!(double_sampling(&labels, RUN, 0.95).unwrap_err(), reason);
        let powered = prediction_powered_rate(&random, RUN, 0.95);
        assert_eq!(powered.unwrap_err(), reason);
        reason
    };
    assert_eq!(
        refused([10, 3, 2, 4]),
        NoCorrection::FewLabels { n: 19, least: 20 }
    );
    assert_eq!(refused([0, 10, 0, 20]), NoCorrection::NoPasses);
    assert_eq!(refused([20, 0, 10, 0]), NoCorrection::NoFails);
    let empty = VerdictCounts::default();
    let random = JudgeLabels::Random(labels([20, 5, 5, 20]));
    let found = rogan_gladen(&random, empty, 0.95);
    assert_eq!(found.unwrap_err(), NoCorrection::NoVerdicts);
    let level = rogan_gladen(&random, RUN, 95.0);
    assert_eq!(level.unwrap_err(), NoCorrection::Level);
}

#[test]
fn a_judge_no_better_than_chance_cannot_be_inverted() {
    for counts in [[20, 20, 20, 20], [10, 30, 30, 10]] {
        let found = rogan_gladen(&JudgeLabels::Random(labels(counts)), RUN, 0.95);
        let reason = found.unwrap_err();
        assert!(
            matches!(reason, NoCorrection::Uninformative { .. }),
            "{reason}"
        );
    }
    let chance = rogan_gladen(&JudgeLabels::Random(labels([20, 20, 20, 20])), RUN, 0.95);
    assert_eq!(
        chance.unwrap_err().to_string(),
        "TPR 0.50 and TNR 0.50 add up to 1 or less: the judge is no better than chance"
    );
    let own = double_sampling(&labels([20, 20, 20, 20]), RUN, 0.95).unwrap();
    assert!((own.value - 0.5).abs() < 1e-12, "needs no judge");
}

#[test]
fn labels_have_to_fit_the_run_that_they_come_from() {
    let many = labels([600, 150, 10, 40]);
    assert_eq!(
        double_sampling(&many, RUN, 0.95).unwrap_err(),
        NoCorrection::MoreLabelsThanAnswers
    );
    let one_verdict = labels([20, 10, 0, 0]);
    assert_eq!(
        double_sampling(&one_verdict, RUN, 0.95).unwrap_err(),
        NoCorrection::Agreement(NoAgreement::NoJudgeFails)
    );
    let always_passes = VerdictCounts {
        passes: 1_000,
        fails: 0,
    };
    let found = double_sampling(&one_verdict, always_passes, 0.95).unwrap();
    assert!((found.value - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn predictions_that_say_nothing_get_no_weight() {
    let answers = (0..30).map(|index| LabelledValue {
        label: f64::from(index % 3) / 2.0,
        prediction: 1.0,
        weight: 1.0,
    });
    let mut answers: Vec<LabelledValue> = answers.collect();
    let found = prediction_powered(&answers, &[1.0; 50], 0.95).unwrap();
    assert_eq!(found.weight.to_bits(), 0_f64.to_bits());
    assert!((found.value - 0.5).abs() < 1e-12);

    answers[0].weight = 0.0;
    let found = prediction_powered(&answers, &[1.0; 50], 0.95);
    assert_eq!(found.unwrap_err(), NoCorrection::NotFinite);
}

#[test]
fn prediction_powered_rates_take_random_labels_of_the_run() {
    let random = labels([60, 10, 5, 25]); // The judge passes 70 %, as in the run.
    let found = prediction_powered_rate(&JudgeLabels::Random(random), RUN, 0.95).unwrap();
    assert_eq!((found.labels, found.unlabelled), (100, 900));
    let sampled = double_sampling(&random, RUN, 0.95).unwrap();
    assert!(
        (found.value - sampled.value).abs() < 0.01,
        "{found:?} {sampled:?}"
    );

    let by_verdict = JudgeLabels::ByVerdict {
        labels: random,
        drawn_from: RUN,
    };
    let refused = prediction_powered_rate(&by_verdict, RUN, 0.95).unwrap_err();
    assert_eq!(refused, NoCorrection::DrawnByVerdict);
    let few = VerdictCounts {
        passes: 700,
        fails: 29,
    };
    let refused = prediction_powered_rate(&JudgeLabels::Random(random), few, 0.95).unwrap_err();
    assert_eq!(refused, NoCorrection::MoreLabelsThanAnswers);
}

/// Twice as many labels are not enough, and the announced number is: the formula counts for the same shares.
#[test]
fn the_number_of_labels_halves_the_interval() {
    let width = |times: usize| {
        let labels = labels([80 * times, 20 * times, 10 * times, 40 * times]);
        let found = rogan_gladen(&JudgeLabels::Random(labels), RUN_OF_MANY, 0.95).unwrap();
        (
            found.interval.high - found.interval.low,
            found.labels_for_half,
        )
    };
    let (wide, needed) = width(1);
    let times = needed.unwrap().div_ceil(150);
    assert!((4..=6).contains(&times), "{times}");
    assert!(width(times).0 <= wide / 2.0 * 1.02 && width(2).0 > wide / 2.0);

    let small_run = VerdictCounts {
        passes: 70,
        fails: 30,
    };
    let labels = JudgeLabels::Random(labels([80, 20, 10, 40]));
    let found = rogan_gladen(&labels, small_run, 0.95).unwrap();
    assert_eq!(found.labels_for_half, None, "the run is too small");
}

const RUN_OF_MANY: VerdictCounts = VerdictCounts {
    passes: 70_000,
    fails: 30_000,
};

#[test]
fn tangos_interval_needs_cases_and_no_more_changes_than_cases() {
    assert_eq!(tango_interval(0, 0, 0, 0.95), Err(NoStatistic::NoValues));
    assert_eq!(tango_interval(3, 3, 5, 0.95), Err(NoStatistic::AboveCases));
    assert_eq!(
        tango_interval(usize::MAX, 1, 5, 0.95),
        Err(NoStatistic::AboveCases)
    );
    assert_eq!(tango_interval(1, 1, 5, 1.0), Err(NoStatistic::Level));
}

#[test]
fn tangos_interval_reaches_the_ends_only_where_all_cases_changed_alike() {
    // Without a change the ends are z² / (n + z²), where all of n cases gained the lower one is (n - z²) / (n + z²).
    let z = 1.959_963_984_540_054_f64.powi(2);
    for n in [1_u16, 2, 30, 1_000] {
        let cases = f64::from(n);
        let n = usize::from(n);
        let none = tango_interval(0, 0, n, 0.95).unwrap();
        assert!((none.high - z / (cases + z)).abs() < 1e-12, "{none:?}");
        assert!((none.low + none.high).abs() < 1e-15, "{none:?}");
        let all = tango_interval(n, 0, n, 0.95).unwrap();
        assert!((all.high - 1.0).abs() < 1e-15, "{all:?}");
        assert!(
            (all.low - (cases - z) / (cases + z)).abs() < 1e-12,
            "{all:?}"
        );
    }
}

proptest! {
    #[test]
    fn intervals_are_ordered_and_finite(values in proptest::collection::vec(-1e3..1e3, 2..40)) {
        for scale in SCALES {
            if let Ok(interval) = mean_interval(&values, None, scale, &quick()) {
                prop_assert!(interval.low <= interval.high, "{interval:?}");
                prop_assert!(interval.low.is_finite() && interval.high.is_finite());
            }
        }
    }

    #[test]
    fn statistics_do_not_depend_on_the_unit(
        values in proptest::collection::vec(-1.0..1.0, 3..30), unit in -250..250
    ) {
        let scale = f64::from(unit).exp2();
        let scaled: Vec<f64> = values.iter().map(|value| value * scale).collect();
        let t = |values: &[f64]| paired_t(values, Alternative::TwoSided).map(|test| test.statistic);
        if let (Ok(one), Ok(other)) = (t(&values), t(&scaled)) {
            prop_assert!((one - other).abs() <= 1e-9 * one.abs().max(1.0));
        }
        let d = |values: &[f64]| cohens_dz(values, 0.95).map(|effect| effect.value);
        if let (Ok(one), Ok(other)) = (d(&values), d(&scaled)) {
            prop_assert!((one - other).abs() <= 1e-9 * one.abs().max(1.0));
        }
        let w = |values: &[f64]| wilcoxon(values, Alternative::TwoSided).map(|test| test.p_value);
        prop_assert_eq!(w(&values), w(&scaled));
    }

    #[test]
    fn tangos_interval_contains_the_observed_change(gained in 0_usize..60, lost in 0_usize..60, same in 1_usize..300) {
        let n = gained + lost + same;
        let share = |count: usize| f64::from(u32::try_from(count).unwrap()) / f64::from(u32::try_from(n).unwrap());
        let observed = share(gained) - share(lost);
        let found = tango_interval(gained, lost, n, 0.95).unwrap();
        prop_assert!(-1.0 < found.low && found.low < observed && observed < found.high && found.high < 1.0, "{found:?}");
        let turned = tango_interval(lost, gained, n, 0.95).unwrap();
        prop_assert_eq!((turned.low, turned.high), (-found.high, -found.low));
    }

    #[test]
    fn corrected_rates_are_shares(counts in proptest::array::uniform4(0_usize..80), passes in 0_usize..900, fails in 0_usize..900) {
        let (labels, run) = (labels(counts), VerdictCounts { passes, fails });
        let drawn_from = VerdictCounts { passes: passes + 100, fails: fails + 100 };
        let found = [
            rogan_gladen(&JudgeLabels::Random(labels), run, 0.95),
            rogan_gladen(&JudgeLabels::ByVerdict { labels, drawn_from }, run, 0.95),
            double_sampling(&labels, run, 0.95),
        ];
        for rate in found.into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&rate.value), "{rate:?}");
            prop_assert!(0.0 <= rate.interval.low && rate.interval.low <= rate.interval.high && rate.interval.high <= 1.0, "{rate:?}");
        }
    }

    #[test]
    fn the_detectable_difference_has_the_planned_power(n in 60_usize..400, discordant in 0.3..1.0) {
        let rate = PassRatePower { discordant, plan: Plan::default(), test: VerdictTest::Exact };
        let detectable = rate.detectable(n).unwrap();
        prop_assert!((rate.power(detectable, n).unwrap() - 0.8).abs() < 1e-9);
        let mean = MeanPower { deviation: discordant, plan: Plan::default() };
        let detectable = mean.detectable(n).unwrap();
        prop_assert!((mean.power(detectable, n).unwrap() - 0.8).abs() < 1e-9);
        let cases = mean.cases(detectable * (1.0 + 1e-9)).unwrap();
        prop_assert!(cases == n, "{} instead of {}", cases, n);
    }
}
