//! Drops against a baseline.

use evals::{
    Change, Direction, Gate, GateError, GateVerdict, Report, Rule, RuleError, Strictness, Titled,
    Value,
};
use evals_metrics::{Bootstrap, MeanPower, PairedTest, Plan};

use super::{check, drop_numbers, gate, judged, max_drop, scored};
use crate::fakes::{Words, finished, outcome, report, score};

/// `lost` of `all` cases fall from 1 to 0.
fn lost(lost: usize, all: usize) -> [Report<Words>; 2] {
    let after: Vec<f64> = (0..all)
        .map(|number| if number < lost { 0.0 } else { 1.0 })
        .collect();
    [scored(&vec![1.0; all]), scored(&after)]
}

fn strict(tolerance: f64) -> Gate {
    Gate {
        strictness: Strictness::Strict,
        ..gate([max_drop(tolerance)])
    }
}

#[test]
fn a_significant_drop_above_the_tolerance_fails() {
    // Twelve of forty cases lost: a drop of 0.3, and 2 of the 2^12 ways to swap sides are as extreme. The interval is Tango's; `limit` of
    // `golden/tango.py` of `evals-metrics` gives the same ends.
    let [before, after] = lost(12, 40);
    let found = judged(&gate([max_drop(0.1)]), &before, &after).unwrap();
    assert_eq!(found.verdict, GateVerdict::Failed);
    assert!(found.is_closed());
    let dropped = check(&found, "RR drop <= 0.1");
    assert_eq!(dropped.verdict, GateVerdict::Failed);
    let numbers = drop_numbers(dropped);
    assert_eq!(
        (numbers.n, numbers.before, numbers.after),
        (40, Some(1.0), Some(0.7))
    );
    assert!((numbers.difference.unwrap() + 0.3).abs() < 1e-12);
    assert!((numbers.p_value.unwrap() - 2.0 / 4096.0).abs() < 1e-15);
    assert_eq!(numbers.p_value, numbers.adjusted_p_value, "one test");
    assert!(
        dropped
            .reason
            .starts_with("worse by 0.3000, 95 % interval of the change [-0.4543, -0.1807]"),
        "{}",
        dropped.reason
    );
    assert!(
        dropped
            .reason
            .ends_with("significant (p = 0.0005) and larger than 0.1 (n = 40)"),
        "{}",
        dropped.reason
    );
}

#[test]
fn a_significant_drop_within_the_tolerance_passes_and_says_so() {
    let [before, after] = lost(12, 40);
    let found = judged(&gate([max_drop(0.3)]), &before, &after).unwrap();
    let dropped = check(&found, "RR drop <= 0.3");
    assert_eq!(dropped.verdict, GateVerdict::Passed, "{dropped:?}");
    assert!(
        dropped
            .reason
            .contains("significant (p = 0.0005), but not larger than 0.3"),
        "a drop of exactly the tolerance is accepted: {}",
        dropped.reason
    );
}

#[test]
fn a_drop_that_chance_explains_passes_where_the_test_had_power() {
    // Of 300 cases, 6 got worse by 0.5 and 2 better by 0.5: sign test 2 * (1 + 8 + 28) / 2^8 = 0.289.
    let before = scored(&[0.5; 300]);
    let mut values = [0.5; 300];
    values[..6].fill(0.0);
    values[6..8].fill(1.0);
    let found = judged(&gate([max_drop(0.014)]), &before, &scored(&values)).unwrap();
    let kept = check(&found, "RR drop <= 0.014");
    let numbers = drop_numbers(kept);
    assert!((numbers.p_value.unwrap() - 74.0 / 256.0).abs() < 1e-12);
    assert_eq!(kept.verdict, GateVerdict::Passed, "{kept:?}");
    // The differences have the mean -1/150 and a sum of squares of 2, so the variance is (2 - 300 / 150^2) / 299.
    let deviation = ((2.0_f64 - 300.0 / 22_500.0) / 299.0).sqrt();
    let power = MeanPower {
        deviation,
        plan: Plan::default(),
    };
    let detectable = power.detectable(300).unwrap();
    assert!((numbers.detectable.unwrap() - detectable).abs() < 1e-12);
    assert_eq!(
        kept.reason,
        "worse by 0.0067, 95 % interval of the change [-0.0159, +0.0026]: neither significant (p = 0.2891) nor larger than 0.014 \
         (n = 300; the test finds a drop of 0.0132 with 80 % probability)"
    );
}

#[test]
fn too_few_cases_cannot_tell_and_say_how_many_it_takes() {
    let [before, after] = lost(2, 5);
    let found = judged(&gate([max_drop(0.1)]), &before, &after).unwrap();
    let unsure = check(&found, "RR drop <= 0.1");
    assert_eq!(unsure.verdict, GateVerdict::CannotTell);
    assert_eq!(found.verdict, GateVerdict::CannotTell);
    assert!(!found.is_closed(), "only --strict fails on it");
    let numbers = drop_numbers(unsure);
    // Two verdicts of five changed. By the normal approximation of McNemar's test it takes
    // ((1.959964 * sqrt(0.4) + 0.841621 * sqrt(0.4 - 0.1^2)) / 0.1)^2 = 312 cases; the exact test asks for a little more.
    let needed = numbers.cases_needed.unwrap();
    assert!((312..340).contains(&needed), "{needed}");
    assert!((numbers.p_value.unwrap() - 0.5).abs() < 1e-15);
    assert!(
        unsure.reason.contains(
            &format!("over 5 cases, which are too few for any drop to be significant: for 0.1 it needs about {needed} cases")
        ),
        "{}",
        unsure.reason
    );
}

#[test]
fn five_large_drops_are_not_a_pass_because_no_drop_of_five_cases_is_significant() {
    let before = scored(&[0.9; 5]);
    let after = scored(&[0.56, 0.57, 0.55, 0.54, 0.58]);
    let found = judged(&gate([max_drop(0.1)]), &before, &after).unwrap();
    let unsure = check(&found, "RR drop <= 0.1");
    assert_eq!(unsure.verdict, GateVerdict::CannotTell, "{}", unsure.reason);
    // The p value of six such drops is 2/2^6.
    let [before, after] = [
        scored(&[0.9; 6]),
        scored(&[0.56, 0.57, 0.55, 0.54, 0.58, 0.53]),
    ];
    let found = judged(&gate([max_drop(0.1)]), &before, &after).unwrap();
    assert_eq!(found.verdict, GateVerdict::Failed);
}

#[test]
fn one_changed_case_cannot_tell() {
    let [before, after] = [scored(&[1.0]), scored(&[0.5])];
    let found = judged(&gate([max_drop(0.1)]), &before, &after).unwrap();
    assert_eq!(found.verdict, GateVerdict::CannotTell);
    let unsure = check(&found, "RR drop <= 0.1");
    assert!(
        unsure.reason.contains("1 case shows no spread"),
        "{}",
        unsure.reason
    );
    let found = judged(&strict(0.1), &before, &after).unwrap();
    assert_eq!(
        found.verdict,
        GateVerdict::Failed,
        "nothing excludes a drop"
    );
}

#[test]
fn strict_asks_the_interval_to_exclude_the_tolerance() {
    // 100 cases: 4 worse by 0.5, 4 better by 0.5. The mean does not move, and the interval reaches about 0.03 to both sides.
    let before = scored(&[0.5; 100]);
    let mut values = [0.5; 100];
    values[..4].fill(0.0);
    values[4..8].fill(1.0);
    let after = scored(&values);
    let narrow = judged(&strict(0.01), &before, &after).unwrap();
    assert_eq!(narrow.verdict, GateVerdict::Failed);
    let reason = &check(&narrow, "RR drop <= 0.01").reason;
    assert!(
        reason.contains("a drop larger than 0.01 cannot be excluded"),
        "{reason}"
    );
    let wide = judged(&strict(0.05), &before, &after).unwrap();
    assert_eq!(wide.verdict, GateVerdict::Passed);
    let interval = drop_numbers(check(&wide, "RR drop <= 0.05"))
        .interval
        .unwrap();
    assert!(-0.05 < interval.low && interval.low < -0.01, "{interval:?}");
}

#[test]
fn strict_asks_for_enough_cases_even_if_none_changed() {
    let itself = |report: &Report<Words>, tolerance| {
        let found = judged(&strict(tolerance), report, report).unwrap();
        let closed = found.is_closed();
        let drop = found.checks().next().unwrap().1.clone();
        (drop.verdict, closed, drop.reason)
    };
    // With 2 and with 300 equal cases, the share 1 - 0.025^(1/n) of all cases may differ: 0.8419 and 0.0122.
    let (few, closed, reason) = itself(&scored(&[0.5; 2]), 0.1);
    assert_eq!((few, closed), (GateVerdict::Failed, true), "{reason}");
    assert_eq!(
        reason,
        "no case changed, 95 % interval of the change [-0.8419, +0.8419]: a drop larger than 0.1 cannot be excluded (n = 2)"
    );
    let (many, closed, reason) = itself(&scored(&[0.5; 300]), 0.02);
    assert_eq!((many, closed), (GateVerdict::Passed, false), "{reason}");
    // The gate does not know the lowest possible grade, even if all grades of this run are from 0 to 1.
    for grade in [3.0, 0.5] {
        let graded = |number| finished(&format!("q{number:03}"), vec![score("grade", grade)]);
        let run = report((0..300).map(graded).collect());
        let rule = Rule::MaxDrop {
            measure: "grade".to_owned(),
            tolerance: 0.02,
        };
        let strict = Gate {
            rules: vec![rule],
            ..strict(0.02)
        };
        let found = judged(&strict, &run, &run).unwrap();
        let reason = &check(&found, "grade drop <= 0.02").reason;
        assert_eq!(found.verdict, GateVerdict::CannotTell, "{reason}");
        assert!(found.is_closed());
        assert!(
            reason.contains("the scale of the measure is not known"),
            "{reason}"
        );
    }
    let unchanged = judged(
        &gate([max_drop(0.1)]),
        &scored(&[0.5; 2]),
        &scored(&[0.5; 2]),
    );
    assert_eq!(
        unchanged.unwrap().verdict,
        GateVerdict::Passed,
        "by default"
    );
}

#[test]
fn p_values_are_corrected_over_all_rules_and_runs() {
    let with = |first: f64, second: f64| {
        let cases = (0..30).map(|number| {
            let changes = number < 6;
            let value = |after: f64| if changes { after } else { 0.5 };
            let scores = vec![score("RR", value(first)), score("AP", value(second))];
            finished(&format!("q{number:02}"), scores)
        });
        report(cases.collect())
    };
    let (before, after) = (with(0.5, 0.5), with(0.1, 0.2));
    let one = judged(&gate([max_drop(0.01)]), &before, &after).unwrap();
    // Six cases got worse, all by the same: 2 / 2^6.
    assert_eq!(
        drop_numbers(check(&one, "RR drop <= 0.01")).adjusted_p_value,
        Some(0.03125)
    );
    assert_eq!(one.verdict, GateVerdict::Failed);
    let other = Rule::MaxDrop {
        measure: "AP".to_owned(),
        tolerance: 0.01,
    };
    let two = judged(&gate([max_drop(0.01), other]), &before, &after).unwrap();
    assert_eq!(two.tests, 2);
    let corrected = drop_numbers(check(&two, "RR drop <= 0.01"));
    assert_eq!(corrected.adjusted_p_value, Some(0.0625));
    assert_ne!(two.verdict, GateVerdict::Failed);
}

#[test]
fn a_rise_is_a_drop_where_lower_is_better() {
    let with = |errors: f64| {
        let cases = (0..20).map(|number| {
            let mut errors = score("errors", errors);
            errors.better = Direction::Lower;
            finished(&format!("q{number:02}"), vec![errors])
        });
        report(cases.collect())
    };
    let rule = |tolerance| Rule::MaxDrop {
        measure: "errors".to_owned(),
        tolerance,
    };
    let (few, many) = (with(0.1), with(0.5));
    let rise = judged(&gate([rule(0.1)]), &few, &many).unwrap();
    assert_eq!(
        check(&rise, "errors drop <= 0.1").verdict,
        GateVerdict::Failed
    );
    let fall = judged(&gate([rule(0.1)]), &many, &few).unwrap();
    assert_ne!(fall.verdict, GateVerdict::Failed);
}

#[test]
fn rules_that_make_no_sense_are_errors() {
    let [before, after] = lost(2, 5);
    let refused = |rules: Vec<Rule>| judged(&gate(rules), &before, &after).unwrap_err();
    assert_eq!(refused(Vec::new()), GateError::Rule(RuleError::None));
    assert_eq!(
        refused(vec![max_drop(-0.1)]).to_string(),
        "the tolerance of `RR` is -0.1; it is the largest drop that is accepted, so it has to be at least 0"
    );
    assert_eq!(
        refused(vec![max_drop(f64::NAN)]).to_string(),
        "the limit of `RR` is NaN, which is not a finite number"
    );
    assert_eq!(
        refused(vec![max_drop(0.1), max_drop(0.2)]).to_string(),
        "`RR` has two rules `max-drop`"
    );
    let unknown = Rule::MaxDrop {
        measure: "RRR".to_owned(),
        tolerance: 0.1,
    };
    assert_eq!(
        refused(vec![unknown]).to_string(),
        "no run has `RRR`, which the rule `max-drop` names; known are RR; did you mean `RR`?"
    );
    assert_eq!(
        refused(vec![super::max("RR", 0.5)]).to_string(),
        "`RR` is better when it is larger, so `max` would reject good runs; use `min`"
    );
    let long = Rule::MaxDrop {
        measure: "a".repeat(100_000),
        tolerance: 0.1,
    };
    assert_eq!(
        refused(vec![long]).to_string(),
        "`max-drop` names a measure of 100000 letters, which begins with `aaaaaaaaaaaaaaaaaaaa`; a name has at most 200"
    );
    let level = Gate {
        level: 95.0,
        ..gate([max_drop(0.1)])
    };
    assert_eq!(
        judged(&level, &before, &after).unwrap_err().to_string(),
        "the level is 95; it has to be from 0.5 to 0.9999, such as 0.95"
    );
}

#[test]
fn repetitions_are_no_extra_cases() {
    let repeated = |value: f64| {
        let cases = (0..4).flat_map(|number| {
            (1..=3).map(move |repeat| {
                let mut case = finished(&format!("q{number}"), vec![score("RR", value)]);
                case.repeat = repeat;
                case
            })
        });
        let mut report = report(cases.collect());
        report.repeat = 3;
        report
    };
    let found = judged(&gate([max_drop(0.1)]), &repeated(1.0), &repeated(0.0)).unwrap();
    let numbers = drop_numbers(check(&found, "RR drop <= 0.1"));
    // Four cases, not twelve: the p value is 2 / 2^4, and not 2 / 2^12.
    assert_eq!((numbers.n, numbers.p_value), (4, Some(0.125)));
}

#[test]
fn equal_differences_that_are_significant_have_a_verdict() {
    let before = scored(&[0.5; 30]);
    let lower = scored(&[0.45; 30]);
    let verdict = |gate: &Gate, before, after| {
        let found = judged(gate, before, after).unwrap();
        let drop = found.checks().next().unwrap().1.clone();
        (drop.verdict, drop.reason)
    };
    assert_eq!(
        verdict(&gate([max_drop(0.1)]), &before, &lower),
        (
            GateVerdict::Passed,
            "worse by 0.0500 in every case: significant (p < 0.0001), and not larger than 0.1 (n = 30)".to_owned()
        )
    );
    let (better, reason) = verdict(&gate([max_drop(0.1)]), &lower, &before);
    assert_eq!(better, GateVerdict::Passed, "{reason}");
    // With 30 equal cases, the share 1 - 0.025^(1/30) = 0.1157 may differ and lose the whole scale: 0.8843 * 0.05 + 0.1157 = 0.1599.
    for (tolerance, expected) in [(0.15, GateVerdict::Failed), (0.16, GateVerdict::Passed)] {
        let (found, reason) = verdict(&strict(tolerance), &before, &lower);
        assert_eq!(found, expected, "{reason}");
    }
    assert_eq!(
        verdict(&gate([max_drop(0.01)]), &before, &lower).0,
        GateVerdict::Failed
    );
    // The p value of five equal differences is 2 / 2^5.
    let few = verdict(
        &gate([max_drop(0.1)]),
        &scored(&[0.5; 5]),
        &scored(&[0.45; 5]),
    );
    assert_eq!(few.0, GateVerdict::CannotTell, "{}", few.1);
}

#[test]
fn the_power_for_verdicts_is_that_of_compare() {
    let side = |lost: usize| {
        let cases = (0..60).map(|number| {
            let right = outcome("right", Value::Assertion(number >= lost));
            finished(&format!("q{number:02}"), vec![right])
        });
        report(cases.collect())
    };
    let (before, after) = (side(0), side(12));
    let rule = Rule::MaxDrop {
        measure: "right".to_owned(),
        tolerance: 0.05,
    };
    let found = judged(&gate([rule]), &before, &after).unwrap();
    let gated = drop_numbers(check(&found, "right drop <= 0.05"));
    let summaries = [&before, &after].map(|it| it.summary(&Bootstrap::default()));
    let side = |place: usize, report| Titled {
        title: "",
        report,
        summary: &summaries[place],
    };
    let change = Change::between(
        &side(0, &before),
        &side(1, &after),
        PairedTest::default(),
        |_| true,
    );
    assert_eq!(gated.detectable, change.measures[0].finding.detectable);
    assert!(gated.detectable.is_some());
}

#[test]
fn a_high_level_takes_more_random_swaps() {
    // 300 differences of many sizes, nearly all of one sign: no swap in millions is as extreme.
    let after: Vec<f64> = (0..300)
        .map(|number| 0.5 + f64::from(number) / 1e4)
        .collect();
    let [before, after] = [vec![0.9; 300], after].map(|values| {
        let cases = values.iter().enumerate();
        let cases = cases.map(|(number, value)| {
            let scores = vec![score("RR", *value), score("AP", *value)];
            finished(&format!("q{number:03}"), scores)
        });
        report(cases.collect())
    });
    let other = Rule::MaxDrop {
        measure: "AP".to_owned(),
        tolerance: 0.1,
    };
    let drop = |level: f64| {
        let gate = Gate {
            level,
            ..gate([max_drop(0.1), other.clone()])
        };
        let found = judged(&gate, &before, &after).unwrap();
        drop_numbers(check(&found, "RR drop <= 0.1"))
            .p_value
            .unwrap()
    };
    assert!((drop(0.95) - 1.0 / 100_001.0).abs() < 1e-12);
    // Holm's first step of two drops is 0.00005, of which a tenth takes 200,000 swaps.
    assert!(
        (drop(0.9999) - 1.0 / 200_001.0).abs() < 1e-10,
        "{}",
        drop(0.9999)
    );
}

#[test]
fn a_mean_that_overflows_fails_and_shows_no_number() {
    let baseline = scored(&[1.7e308; 8]);
    for run in [
        scored(&[-1.7e308; 8]),
        scored(&[1.7e308; 8]),
        scored(&[0.5; 8]),
    ] {
        let found = judged(&gate([max_drop(0.1)]), &baseline, &run).unwrap();
        let check = check(&found, "RR drop <= 0.1");
        assert_eq!(check.verdict, GateVerdict::Failed);
        assert!(
            check.reason.contains("exceeds the range of numbers"),
            "{}",
            check.reason
        );
    }
}
