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
    // Twelve of forty cases lost: a drop of 0.3, with z = √12. `scipy.stats.norm.sf` gives both tails. The interval is Tango's; `limit` of
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
    assert!((numbers.p_value.unwrap() - 0.000_532_005_505).abs() < 1e-12);
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
    // Of 300 cases, 8 got worse by 0.5 and 4 better by 0.5. `scipy.stats.ttest_1samp` gives p and the interval.
    let before = scored(&[0.5; 300]);
    let mut values = [0.5; 300];
    values[..8].fill(0.0);
    values[8..12].fill(1.0);
    let found = judged(&gate([max_drop(0.017)]), &before, &scored(&values)).unwrap();
    let kept = check(&found, "RR drop <= 0.017");
    let numbers = drop_numbers(kept);
    assert!((numbers.p_value.unwrap() - 0.248_871_715).abs() < 1e-9);
    assert_eq!(kept.verdict, GateVerdict::Passed, "{kept:?}");
    // The differences have the mean -1/150 and a sum of squares of 3, so the variance is (3 - 300 / 150^2) / 299.
    let deviation = ((3.0_f64 - 300.0 / 22_500.0) / 299.0).sqrt();
    let power = MeanPower {
        deviation,
        plan: Plan::default(),
    };
    let detectable = power.detectable(300).unwrap();
    assert!((numbers.detectable.unwrap() - detectable).abs() < 1e-12);
    assert_eq!(
        kept.reason,
        "worse by 0.0067, 95 % interval of the change [-0.0180, +0.0047]: neither significant (p = 0.2489) nor larger than 0.017 \
         (n = 300; the test finds a drop of 0.0162 with 80 % probability)"
    );
}

#[test]
fn too_few_cases_cannot_tell_and_say_how_many_it_takes() {
    // 6 of 40 verdicts got worse, and 6 got better.
    let side = |passes: std::ops::Range<usize>| {
        let values: Vec<f64> = (0..40)
            .map(|case| f64::from(u8::from(passes.contains(&case))))
            .collect();
        scored(&values)
    };
    let found = judged(&gate([max_drop(0.1)]), &side(0..34), &side(6..40)).unwrap();
    let unsure = check(&found, "RR drop <= 0.1");
    assert_eq!(unsure.verdict, GateVerdict::CannotTell);
    assert_eq!(found.verdict, GateVerdict::CannotTell);
    assert!(!found.is_closed(), "only --strict fails on it");
    let numbers = drop_numbers(unsure);
    assert!((numbers.p_value.unwrap() - 1.0).abs() < 1e-12);
    // The power of the score test with 30 % changed verdicts, summed over all outcomes with `scipy.stats.binom`, stays above 80 % for a
    // drop of 0.1 from 229 cases on, and is 80 % for a drop of 0.2268 with 40 cases.
    assert_eq!(numbers.cases_needed, Some(229));
    assert!(
        unsure.reason.ends_with(
            "p = 1.0000 over 40 cases, which are too few to see a drop of 0.1: the test finds a drop of 0.2268 with 80 % probability, \
             and for 0.1 it needs about 229 cases"
        ),
        "{}",
        unsure.reason
    );
}

#[test]
fn too_few_changed_cases_cannot_tell() {
    let [before, after] = lost(2, 5);
    let found = judged(&gate([max_drop(0.1)]), &before, &after).unwrap();
    let unsure = check(&found, "RR drop <= 0.1");
    assert_eq!(unsure.verdict, GateVerdict::CannotTell);
    // z = √2.
    let numbers = drop_numbers(unsure);
    assert!((numbers.p_value.unwrap() - 0.157_299_207).abs() < 1e-9);
    assert_eq!((numbers.detectable, numbers.cases_needed), (None, None));
    assert!(
        unsure.reason.ends_with(
            "p = 0.1573, and too few cases changed to say which drop the test can see (n = 5)"
        ),
        "{}",
        unsure.reason
    );
}

#[test]
fn three_unchanged_cases_do_not_pass() {
    let report = scored(&[1.0, 0.0, 1.0]);
    let found = judged(&gate([max_drop(0.02)]), &report, &report).unwrap();
    let unsure = check(&found, "RR drop <= 0.02");
    assert_eq!(unsure.verdict, GateVerdict::CannotTell);
    // Tango's interval of 3 unchanged verdicts is ±z² / (3 + z²).
    assert_eq!(
        unsure.reason,
        "no case changed, 95 % interval of the change [-0.5615, +0.5615]: 3 cases are too few to exclude drops above 0.02"
    );
    let one = scored(&[1.0]);
    let found = judged(&gate([max_drop(0.02)]), &one, &one).unwrap();
    let reason = &check(&found, "RR drop <= 0.02").reason;
    assert!(
        reason.contains(": 1 case is too few to exclude"),
        "{reason}"
    );
    let many = scored(&[1.0; 256]);
    let found = judged(&gate([max_drop(0.02)]), &many, &many).unwrap();
    // z² / (256 + z²) is 0.0148.
    assert_eq!(found.verdict, GateVerdict::Passed);
    assert_eq!(
        check(&found, "RR drop <= 0.02").reason,
        "no case changed (n = 256)"
    );
}

#[test]
fn five_large_drops_fail_and_five_scattered_ones_cannot_tell() {
    let before = scored(&[0.9; 5]);
    let verdict = |after: [f64; 5]| {
        let found = judged(&gate([max_drop(0.1)]), &before, &scored(&after)).unwrap();
        let drop = check(&found, "RR drop <= 0.1");
        (drop.verdict, drop_numbers(drop).p_value.unwrap())
    };
    // `scipy.stats.ttest_1samp` gives the p values: t = -48.1 and t = -1.9.
    let (steady, p_value) = verdict([0.56, 0.57, 0.55, 0.54, 0.58]);
    assert_eq!(steady, GateVerdict::Failed);
    assert!((p_value - 1.119_243e-6).abs() < 1e-11, "{p_value}");
    let (scattered, p_value) = verdict([0.2, 0.9, 0.4, 1.0, 0.6]);
    assert_eq!(scattered, GateVerdict::CannotTell);
    assert!((p_value - 0.134_701_935).abs() < 1e-9, "{p_value}");
}

#[test]
fn one_changed_case_cannot_tell() {
    let [before, after] = [scored(&[1.0]), scored(&[0.5])];
    let found = judged(&gate([max_drop(0.1)]), &before, &after).unwrap();
    assert_eq!(found.verdict, GateVerdict::CannotTell);
    let unsure = check(&found, "RR drop <= 0.1");
    assert!(
        unsure.reason.contains("too few cases changed to say"),
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
}

#[test]
fn p_values_are_corrected_over_all_rules_and_runs() {
    let with = |first: f64, second: f64| {
        let cases = (0..30).map(|number| {
            let changes = number < 4;
            let value = |after: f64| if changes { after } else { 0.5 };
            let scores = vec![score("RR", value(first)), score("AP", value(second))];
            finished(&format!("q{number:02}"), scores)
        });
        report(cases.collect())
    };
    let (before, after) = (with(0.5, 0.5), with(0.1, 0.2));
    let one = judged(&gate([max_drop(0.01)]), &before, &after).unwrap();
    let p_value = |report| drop_numbers(check(report, "RR drop <= 0.01")).adjusted_p_value;
    // Four of 30 cases got worse, all by the same. `scipy.stats.ttest_1samp` gives p, which does not depend on the size of the drop.
    let alone = p_value(&one).unwrap();
    assert!((alone - 0.043_397_418).abs() < 1e-9, "{alone}");
    assert_eq!(one.verdict, GateVerdict::Failed);
    let other = Rule::MaxDrop {
        measure: "AP".to_owned(),
        tolerance: 0.01,
    };
    let two = judged(&gate([max_drop(0.01), other]), &before, &after).unwrap();
    assert_eq!(two.tests, 2);
    let corrected = p_value(&two).unwrap();
    assert!((corrected - 2.0 * alone).abs() < 1e-12, "{corrected}");
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
    // Four cases, not twelve: z is √4, and not √12.
    assert_eq!(numbers.n, 4);
    assert!((numbers.p_value.unwrap() - 0.045_500_264).abs() < 1e-9);
}

#[test]
fn equal_differences_that_are_significant_have_a_verdict() {
    let before = scored(&[0.5; 30]);
    let lower = scored(&[0.3; 30]);
    let verdict = |gate: &Gate, before, after| {
        let found = judged(gate, before, after).unwrap();
        let drop = found.checks().next().unwrap().1.clone();
        (drop.verdict, drop.reason)
    };
    // p = 2 * 1.2^-30.
    assert_eq!(
        verdict(&gate([max_drop(0.25)]), &before, &lower),
        (
            GateVerdict::Passed,
            "worse by 0.2000 in every case: significant (p = 0.0084), and not larger than 0.25 (n = 30)".to_owned()
        )
    );
    let (better, reason) = verdict(&gate([max_drop(0.1)]), &lower, &before);
    assert_eq!(better, GateVerdict::Passed, "{reason}");
    // With 30 equal cases, the share 1 - 0.025^(1/30) = 0.1157 may differ and lose the whole scale: 0.8843 * 0.2 + 0.1157 = 0.2926.
    for (tolerance, expected) in [(0.29, GateVerdict::Failed), (0.3, GateVerdict::Passed)] {
        let (found, reason) = verdict(&strict(tolerance), &before, &lower);
        assert_eq!(found, expected, "{reason}");
    }
    assert_eq!(
        verdict(&gate([max_drop(0.1)]), &before, &lower).0,
        GateVerdict::Failed
    );
}

#[test]
fn equal_differences_that_are_small_cannot_tell() {
    // The same limit: 0.8843 * 0.05 + 0.1157 = 0.1599, and p = 2 * 1.05^-30 = 0.46.
    let [before, lower] = [0.5, 0.45].map(|value| scored(&[value; 30]));
    let found = judged(&gate([max_drop(0.1)]), &before, &lower).unwrap();
    let unsure = check(&found, "RR drop <= 0.1");
    assert_eq!(unsure.verdict, GateVerdict::CannotTell);
    assert_eq!(
        unsure.reason,
        "worse by 0.0500, 95 % interval of the change [-0.1599, +0.0715]: p = 0.4628, and equal differences do not say which drop the \
         test can see (n = 30)"
    );
    let found = judged(&gate([max_drop(0.16)]), &before, &lower).unwrap();
    assert_eq!(found.verdict, GateVerdict::Passed);
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
    let sides = [side(0, &before), side(1, &after)];
    let change = Change::between(&sides, PairedTest::default(), |_| true);
    assert_eq!(gated.detectable, change.measures[0].finding.detectable);
    assert!(gated.detectable.is_some());
}

#[test]
fn a_change_that_overflows_fails_and_shows_no_number() {
    let baseline = scored(&[1.7e308; 8]);
    let found = judged(&gate([max_drop(0.1)]), &baseline, &scored(&[-1.7e308; 8])).unwrap();
    let overflowing = check(&found, "RR drop <= 0.1");
    assert_eq!(overflowing.verdict, GateVerdict::Failed);
    assert!(
        overflowing.reason.contains("exceeds the range of numbers"),
        "{}",
        overflowing.reason
    );
    // Other changes of such values are finite. Eight that are all for the worse have p = 2 / 2^8.
    let verdict = |run: f64| {
        let found = judged(&gate([max_drop(0.1)]), &baseline, &scored(&[run; 8])).unwrap();
        let drop = check(&found, "RR drop <= 0.1");
        (drop.verdict, drop_numbers(drop).p_value)
    };
    assert_eq!(verdict(1.7e308), (GateVerdict::CannotTell, None));
    assert_eq!(verdict(0.5), (GateVerdict::Failed, Some(2.0 / 256.0)));
}
