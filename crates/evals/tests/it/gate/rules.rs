//! Rules that cannot be part of a gate.

use evals::{CaseOutcome, Direction, GateError, GateVerdict, Report, Rule, Subject, Unit, Value};

use super::{gate, judged, judged_snapshots, max, max_drop, min, snapshot};
use crate::fakes::{Words, finished, outcome, report, score};

/// Two runs with the score `RR` from 0 to 1, some pass rates and a metric.
fn sides() -> [Report<Words>; 2] {
    [0.5, 0.25].map(|value| {
        let cases = (0..10).map(|number| {
            let toxic = CaseOutcome {
                better: Direction::Lower,
                ..outcome("toxic", Value::Assertion(number == 0))
            };
            let scores = vec![
                outcome("RR", Value::Score(value)),
                outcome("grade", Value::Score(f64::from(number % 2))),
                outcome("right", Value::Assertion(number > 2)),
                toxic,
            ];
            finished(&format!("q{number}"), scores)
        });
        report(cases.collect())
    })
}

fn refused(rule: Rule) -> Option<String> {
    let [before, after] = sides();
    let judged = judged(&gate([rule]), &before, &after);
    judged.err().map(|error| error.to_string())
}

fn drop(measure: &str, tolerance: f64) -> Rule {
    Rule::MaxDrop {
        measure: measure.to_owned(),
        tolerance,
    }
}

#[test]
fn a_rule_that_never_holds_or_never_fails_is_refused() {
    for (rule, message) in [
        (
            drop("RR", 2.0),
            "`max-drop` of `RR` is 2, so the rule never fails: the measure is from 0 to 1, and so is a drop; did you mean 0.02?",
        ),
        (
            drop("right", 1.0),
            "`max-drop` of `right` is 1, so the rule never fails: the measure is from 0 to 1, and so is a drop",
        ),
        (
            min("RR", 80.0),
            "`min` of `RR` is 80, so the rule never holds: the measure is from 0 to 1; did you mean 0.8?",
        ),
        (
            min("right", 7.0),
            "`min` of `right` is 7, so the rule never holds: the measure is from 0 to 1; did you mean 0.07?",
        ),
        (
            min("right", 0.0),
            "`min` of `right` is 0, so the rule never fails: the measure is from 0 to 1",
        ),
        (
            max("toxic", 5.0),
            "`max` of `toxic` is 5, so the rule never fails: the measure is from 0 to 1; did you mean 0.05?",
        ),
        (
            max("toxic", -0.1),
            "`max` of `toxic` is -0.1, so the rule never holds: the measure is from 0 to 1",
        ),
        (
            max("cost", -1.0),
            "`max` of `cost` is -1, so the rule never holds: a cost is at least 0",
        ),
        (
            max("failed", -1.0),
            "`max` of `failed` is -1, so the rule never holds: a number of cases is at least 0",
        ),
        (
            max("failed", 0.5),
            "`max` of `failed` is 0.5, but it counts cases: write a whole number, such as 0 or 5",
        ),
        (
            drop("latency.p95", 1.0),
            "`latency.p95` is not compared with the baseline, so it has no `max-drop`; limit it with `max`",
        ),
    ] {
        assert_eq!(refused(rule).as_deref(), Some(message));
    }
}

#[test]
fn a_latency_of_nothing_is_refused() {
    for (limit, written) in [(-1.0, "-1 s"), (0.0, "0 µs")] {
        let message = format!(
            "`max` of `latency.p95` is {written}, so the rule never holds: a latency is above 0"
        );
        assert_eq!(refused(max("latency.p95", limit)), Some(message));
    }
}

#[test]
fn a_floor_of_what_is_better_when_lower_is_refused() {
    for quantity in ["cost", "failed"] {
        let refused = refused(min(quantity, 1.0)).unwrap();
        let expected = format!("`{quantity}` is better when it is smaller");
        assert!(refused.starts_with(&expected), "{refused}");
        assert!(refused.ends_with("use `max`"), "{refused}");
    }
}

#[test]
fn a_rule_at_the_end_of_what_is_possible_is_not_refused() {
    for rule in [
        drop("RR", 0.99),
        min("right", 1.0),
        max("toxic", 0.0),
        max("failed", 0.0),
        max("cost", 0.0),
        // Its values are 0 and 1 here, but grades may go on to 5.
        min("grade", 4.0),
        drop("grade", 2.0),
    ] {
        assert_eq!(refused(rule.clone()), None, "{rule:?}");
    }
}

#[test]
fn values_of_a_run_do_not_show_how_far_a_measure_goes() {
    // All distances of this good run are from 0 to 1, and a bad run has larger ones.
    let cases = (0..10).map(|number| {
        let mut distance = outcome("distance", Value::Score(f64::from(number) / 10.0));
        distance.better = Direction::Lower;
        finished(&format!("q{number}"), vec![distance])
    });
    let run = snapshot(&report(cases.collect()));
    let report = judged_snapshots(&gate([max("distance", 1.2)]), None, &run).unwrap();
    let (_, check) = report.checks().next().unwrap();
    assert_eq!(check.verdict, GateVerdict::Passed, "{}", check.reason);
}

#[test]
fn a_rank_measure_is_known_to_be_from_0_to_1() {
    let run = |name| {
        let cases = (0..10).map(|case| finished(&format!("q{case}"), vec![score(name, 0.5)]));
        snapshot(&report(cases.collect()))
    };
    let refused = judged_snapshots(&gate([min("nDCG@10", 4.0)]), None, &run("nDCG@10"));
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("the rule never holds"), "{message}");
    assert!(judged_snapshots(&gate([min("grade", 4.0)]), None, &run("grade")).is_ok());
}

#[test]
fn two_names_of_one_measure_cannot_both_have_a_rule() {
    let [before, after] = sides().map(|report| snapshot(&report));
    let names = |written: &str, title: &str| written.to_uppercase() == title;
    let subject = Subject {
        run: &after,
        baseline: Some(&before),
        checks: &[],
    };
    let twice = gate([drop("RR", 0.1), min("RR", 0.1), drop("rr", 0.2)]);
    let error = twice.judge(&[subject], &names).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`RR` and `rr` are the same, and both have a rule `max-drop`; keep one of them"
    );
    assert_eq!(error.rule(), Some(("max-drop", "rr")));
}

#[test]
fn a_level_of_significance_is_no_level_of_confidence() {
    let [before, after] = sides();
    for level in [0.05, 0.0, 1.0, 0.999_999] {
        let mut gate = gate([max_drop(0.1)]);
        gate.level = level;
        let error = judged(&gate, &before, &after).unwrap_err();
        assert_eq!(error, GateError::Level(level));
    }
}

#[test]
fn a_quantity_that_is_also_a_measure_is_the_measure() {
    let cases = (0..10).map(|number| {
        let mut case = finished(&format!("q{number}"), Vec::new());
        case.metrics = [("cost".to_owned(), -0.5)].into();
        case
    });
    let run = snapshot(&report(cases.collect()));
    assert_eq!(run.measures[0].unit, Unit::Metric);
    let found = judged_snapshots(&gate([max("cost", -0.1)]), None, &run).unwrap();
    assert!(!found.is_closed(), "{found:?}");
}
