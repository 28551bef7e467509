//! Agreement of a judge with people, against statsmodels and scikit-learn.

use evals_metrics::{
    Agreement, Confusion, Estimate, Interval, IntervalMethod, NoAgreement, PeopleAgreement,
    VerdictCounts,
};
use proptest::prelude::*;

/// Written by `agreement.py`.
const GOLDEN: &str = include_str!("../golden/agreement.tsv");

fn confusion([true_passes, false_passes, false_fails, true_fails]: [usize; 4]) -> Confusion {
    Confusion {
        true_passes,
        false_passes,
        false_fails,
        true_fails,
    }
}

/// The golden rows of a kind: their counts, and their other columns.
fn golden(kind: &str) -> Vec<(Confusion, Vec<&'static str>)> {
    let rows = GOLDEN.lines().map(|line| line.split('\t'));
    let rows = rows.filter_map(|mut columns| {
        (columns.next()? == kind).then(|| {
            let counts = [(); 4].map(|()| columns.next().unwrap().parse().unwrap());
            (confusion(counts), columns.collect())
        })
    });
    rows.collect()
}

fn numbers(columns: &[&str]) -> Vec<f64> {
    columns.iter().map(|text| text.parse().unwrap()).collect()
}

fn ends(estimate: &Estimate) -> [f64; 3] {
    let Interval { low, high, .. } = estimate.interval.unwrap();
    [estimate.value, low, high]
}

#[track_caller]
fn assert_close(found: [f64; 3], expected: &[f64], tolerance: f64) {
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() < tolerance,
            "{found} instead of {expected}"
        );
    }
}

#[test]
fn a_random_sample_equals_statsmodels_and_scikit_learn() {
    let rows = golden("sample");
    assert_eq!(rows.len(), 7);
    for (labels, columns) in rows {
        let expected = numbers(&columns);
        let found = Agreement::of_sample(&labels, 0.95);
        let kappa = found.kappa.unwrap();
        assert_eq!(kappa.interval.unwrap().method, IntervalMethod::Asymptotic);
        assert_close(ends(&kappa), &expected[..3], 1e-12);
        assert_close(ends(&found.true_pass_rate.unwrap()), &expected[3..6], 1e-12);
        assert!((found.true_fail_rate.unwrap().value - expected[6]).abs() < 1e-12);
    }
}

#[test]
fn a_stratified_sample_equals_scikit_learn_with_inverse_probabilities() {
    let rows = golden("stratified");
    assert_eq!(rows.len(), 16);
    for (labels, columns) in rows {
        let run = VerdictCounts {
            passes: columns[0].parse().unwrap(),
            fails: columns[1].parse().unwrap(),
        };
        let found = Agreement::stratified(&labels, run, 0.95);
        let estimate = match columns[2] {
            "agreement" => found.agreement,
            "kappa" => found.kappa,
            "tpr" => found.true_pass_rate,
            "tnr" => found.true_fail_rate,
            other => panic!("{other}"),
        };
        let estimate = estimate.unwrap();
        assert_eq!(
            estimate.interval.unwrap().method,
            IntervalMethod::PropagatedWilson
        );
        assert_close(ends(&estimate), &numbers(&columns[3..]), 1e-9);
    }
}

#[test]
fn what_labels_cannot_say_is_undefined_with_a_reason() {
    let found = |counts| Agreement::of_sample(&confusion(counts), 0.95);

    let nothing = found([0; 4]);
    assert_eq!(nothing.agreement, Err(NoAgreement::NoAnswers));
    assert_eq!(nothing.kappa, Err(NoAgreement::NoAnswers));
    assert_eq!(nothing.true_pass_rate, Err(NoAgreement::NoPasses));
    assert_eq!(nothing.true_fail_rate, Err(NoAgreement::NoFails));

    let all_pass = found([7, 0, 0, 0]);
    assert_eq!(all_pass.kappa, Err(NoAgreement::OneVerdict));
    assert_eq!(all_pass.true_fail_rate, Err(NoAgreement::NoFails));
    assert_eq!(all_pass.agreement.unwrap().value.to_bits(), 1_f64.to_bits());

    let no_errors = found([5, 0, 0, 5]).kappa.unwrap();
    assert_eq!(
        (no_errors.value.to_bits(), no_errors.interval),
        (1_f64.to_bits(), None),
        "an interval of width 0 would mislead"
    );
    let one_sided = found([6, 4, 0, 0]).kappa.unwrap();
    assert!(one_sided.value.abs() < 1e-15, "the judge passed everything");
    assert_eq!(one_sided.interval, None);
}

#[test]
fn a_stratum_without_labels_leaves_everything_undefined() {
    let run = VerdictCounts {
        passes: 90,
        fails: 10,
    };
    let found = Agreement::stratified(&confusion([9, 1, 0, 0]), run, 0.95);
    assert_eq!(found.agreement, Err(NoAgreement::NoJudgeFails));
    assert_eq!(found.true_fail_rate, Err(NoAgreement::NoJudgeFails));
    let found = Agreement::stratified(&confusion([0, 0, 1, 1]), run, 0.95);
    assert_eq!(found.kappa, Err(NoAgreement::NoJudgePasses));
    let found = Agreement::stratified(&confusion([0; 4]), run, 0.95);
    assert_eq!(found.kappa, Err(NoAgreement::NoAnswers));
    let found = Agreement::stratified(&confusion([0, 4, 0, 6]), run, 0.95);
    assert_eq!(found.true_pass_rate, Err(NoAgreement::NoPasses));
    assert!(found.agreement.is_ok());
}

#[test]
fn a_judge_with_one_verdict_has_one_stratum() {
    let labels = confusion([8, 2, 0, 0]);
    let run = VerdictCounts {
        passes: 50,
        fails: 0,
    };
    assert_eq!(
        Agreement::stratified(&labels, run, 0.95),
        Agreement::of_sample(&labels, 0.95)
    );
}

/// What the wrong answer would be: half of the labels are of failed answers, but a tenth of the run failed.
#[test]
fn weights_undo_the_choice_of_answers() {
    let labels = confusion([50, 0, 25, 25]);
    let run = VerdictCounts {
        passes: 900,
        fails: 100,
    };
    let raw = Agreement::of_sample(&labels, 0.95).true_pass_rate.unwrap();
    let weighted = Agreement::stratified(&labels, run, 0.95);
    assert_eq!(format!("{:.4}", raw.value), "0.6667");
    // 900 passes are right, and of 100 fails 50 are wrong.
    let expected = 900.0 / 950.0;
    assert!((weighted.true_pass_rate.unwrap().value - expected).abs() < 1e-12);
    assert!((weighted.agreement.unwrap().value - 0.95).abs() < 1e-12);
}

/// Two people who agree in nine of ten answers that the judge passed, and in half of those that it failed.
#[test]
fn the_agreement_of_people_is_weighted_too() {
    let (passed, failed) = (confusion([40, 5, 0, 5]), confusion([5, 15, 10, 20]));
    let run = VerdictCounts {
        passes: 900,
        fails: 100,
    };
    let found = PeopleAgreement::stratified(&passed, &failed, run, 0.95);
    assert_eq!(found.n, 100);
    let agreement = found.agreement.unwrap();
    assert!((agreement.value - 0.86).abs() < 1e-12, "{agreement:?}");
    // The first passes 0.9 * 0.8 + 0.1 * 0.3 of the answers, and the second 0.9 * 0.9 + 0.1 * 0.4.
    let expected = 0.75 * 0.85 + 0.25 * 0.15;
    let kappa = found.kappa.unwrap();
    assert!((kappa.value - (0.86 - expected) / (1.0 - expected)).abs() < 1e-12);
    let interval = kappa.interval.unwrap();
    assert!(interval.low < kappa.value && kappa.value < interval.high);

    let nothing = confusion([0; 4]);
    let empty = PeopleAgreement::stratified(&passed, &nothing, run, 0.95);
    assert_eq!(empty.kappa, Err(NoAgreement::NoJudgeFails));
    let equal = PeopleAgreement::stratified(&passed, &confusion([0, 0, 0, 9]), run, 0.95);
    assert_eq!(
        equal.kappa.unwrap().interval,
        None,
        "one stratum has no spread"
    );
    let one = VerdictCounts {
        passes: 50,
        fails: 0,
    };
    assert_eq!(
        PeopleAgreement::stratified(&passed, &nothing, one, 0.95),
        PeopleAgreement::of_sample(&passed, 0.95)
    );
}

proptest! {
    #[test]
    fn values_lie_within_their_ranges_and_intervals(
        counts in proptest::array::uniform4(0_usize..60), passes in 1_usize..500, fails in 1_usize..500,
    ) {
        let labels = confusion(counts);
        let run = VerdictCounts { passes, fails };
        for found in [Agreement::of_sample(&labels, 0.95), Agreement::stratified(&labels, run, 0.95)] {
            let rates = [found.agreement, found.true_pass_rate, found.true_fail_rate];
            for (estimate, least) in rates.into_iter().map(|rate| (rate, 0.0)).chain([(found.kappa, -1.0)]) {
                let Ok(estimate) = estimate else { continue };
                prop_assert!((least..=1.0).contains(&estimate.value), "{estimate:?}");
                if let Some(interval) = estimate.interval {
                    prop_assert!(least - 1e-12 <= interval.low && interval.low <= estimate.value + 1e-12, "{estimate:?}");
                    prop_assert!(estimate.value <= interval.high + 1e-12 && interval.high <= 1.0 + 1e-12, "{estimate:?}");
                }
            }
        }
    }

    /// A sample with the run's own shares of verdicts needs no weights.
    #[test]
    fn weights_of_a_proportional_sample_change_nothing(counts in proptest::array::uniform4(1_usize..40), times in 1_usize..9) {
        let labels = confusion(counts);
        let run = VerdictCounts { passes: labels.judge_passes() * times, fails: labels.judge_fails() * times };
        let (raw, weighted) = (Agreement::of_sample(&labels, 0.95), Agreement::stratified(&labels, run, 0.95));
        let close = |one: Result<Estimate, NoAgreement>, other: Result<Estimate, NoAgreement>| {
            (one.unwrap().value - other.unwrap().value).abs() < 1e-12
        };
        prop_assert!(close(raw.agreement, weighted.agreement) && close(raw.kappa, weighted.kappa));
        prop_assert!(close(raw.true_pass_rate, weighted.true_pass_rate) && close(raw.true_fail_rate, weighted.true_fail_rate));
    }
}
