//! Floors and ceilings.

use std::time::Duration;

use evals::{
    CheckNumbers, Direction, Gate, GateBound, GateVerdict, LimitCheck, Rule, Snapshot, Strictness,
    Timing, Unit, Value,
};

use super::{check, gate, judged_snapshots, max, min, scored, snapshot};
use crate::fakes::{failed, finished, outcome, report};

fn passes(passed: usize, all: usize, broken: usize) -> Snapshot {
    let cases = (0..all).map(|number| {
        finished(
            &format!("q{number:03}"),
            vec![outcome("right", Value::Assertion(number < passed))],
        )
    });
    let broken = (0..broken).map(|number| failed(&format!("x{number:03}"), "timed out"));
    snapshot(&report(cases.chain(broken).collect()))
}

fn verdict(gate: &Gate, run: &Snapshot) -> (GateVerdict, String) {
    let found = judged_snapshots(gate, None, run).unwrap();
    let (_, check) = found.checks().next().unwrap();
    (check.verdict, check.reason.clone())
}

fn bounded(rule: Rule, bound: GateBound) -> Gate {
    Gate {
        bound,
        ..gate([rule])
    }
}

#[test]
fn a_floor_is_compared_with_the_end_of_the_interval_that_the_user_chose() {
    // Wilson's interval of 85 in 100 is [0.7672, 0.9069].
    let run = passes(85, 100, 0);
    let at = |floor, bound| verdict(&bounded(min("right", floor), bound), &run).0;
    assert_eq!(at(0.85, GateBound::Point), GateVerdict::Passed);
    assert_eq!(at(0.86, GateBound::Point), GateVerdict::Failed);
    assert_eq!(at(0.76, GateBound::Pessimistic), GateVerdict::Passed);
    assert_eq!(at(0.77, GateBound::Pessimistic), GateVerdict::Failed);
    assert_eq!(at(0.90, GateBound::Optimistic), GateVerdict::Passed);
    assert_eq!(at(0.91, GateBound::Optimistic), GateVerdict::Failed);
    let (_, reason) = verdict(&bounded(min("right", 0.8), GateBound::Pessimistic), &run);
    assert_eq!(
        reason,
        "0.8500 (n = 100, 95 % interval [0.7672, 0.9069]): the worse end of the interval is below 0.8"
    );
}

#[test]
fn failures_that_could_break_a_floor_leave_it_open() {
    let run = passes(85, 100, 10);
    let (verdict, reason) = verdict(&gate([min("right", 0.8)]), &run);
    assert_eq!(verdict, GateVerdict::CannotTell);
    assert!(
        reason.ends_with(
            "but 10 more failed and have no value; if they count as 0, it is 0.7727 and below 0.8"
        ),
        "{reason}"
    );
    let strict = Gate {
        strictness: Strictness::Strict,
        ..gate([min("right", 0.8)])
    };
    assert!(judged_snapshots(&strict, None, &run).unwrap().is_closed());
}

#[test]
fn a_floor_that_a_mean_misses_by_rounding_is_kept() {
    // The sum of ten 0.8 is below 8.
    let run = snapshot(&scored(&[0.8; 10]));
    let (found, reason) = verdict(&gate([min("RR", 0.8)]), &run);
    assert_eq!(found, GateVerdict::Passed, "{reason}");
}

#[test]
fn failures_leave_the_floor_of_a_score_open_too() {
    let score = finished("q0", vec![outcome("F1", Value::Score(1.0))]);
    let broken = (0..9).map(|number| failed(&format!("x{number:03}"), "timed out"));
    let run = snapshot(&report(std::iter::once(score).chain(broken).collect()));
    let (found, reason) = verdict(&gate([min("F1", 0.9)]), &run);
    assert_eq!(found, GateVerdict::CannotTell);
    assert!(reason.ends_with("it is 0.1000 and below 0.9"), "{reason}");
}

#[test]
fn failures_that_could_break_a_ceiling_leave_it_open() {
    // 5 of 100 outputs are toxic, and 10 cases failed: (5 + 10) / 110 is above the ceiling.
    let cases = (0..100).map(|number| {
        let mut toxic = outcome("toxic", Value::Assertion(number < 5));
        toxic.better = Direction::Lower;
        finished(&format!("q{number:03}"), vec![toxic])
    });
    let broken = (0..10).map(|number| failed(&format!("x{number:03}"), "timed out"));
    let run = snapshot(&report(cases.chain(broken).collect()));
    let (found, reason) = verdict(&gate([max("toxic", 0.1)]), &run);
    assert_eq!(found, GateVerdict::CannotTell);
    assert!(reason.ends_with("it is 0.1364 and above 0.1"), "{reason}");
    assert_eq!(
        verdict(&gate([max("toxic", 0.2)]), &run).0,
        GateVerdict::Passed
    );
    let error = judged_snapshots(&gate([min("toxic", 0.1)]), None, &run).unwrap_err();
    assert!(error.to_string().ends_with("use `max`"), "{error}");
}

#[test]
fn equal_scores_have_no_interval_to_hold_against_a_floor() {
    let run = snapshot(&scored(&[0.5; 10]));
    let (found, reason) = verdict(&bounded(min("RR", 0.4), GateBound::Pessimistic), &run);
    assert_eq!(found, GateVerdict::CannotTell);
    assert!(reason.contains("without an interval"), "{reason}");
    assert_eq!(
        verdict(&gate([min("RR", 0.4)]), &run).0,
        GateVerdict::Passed
    );
}

#[test]
fn two_scores_that_nearly_agree_show_little_about_a_floor() {
    let run = snapshot(&scored(&[0.80, 0.82]));
    let (found, reason) = verdict(&bounded(min("RR", 0.8), GateBound::Pessimistic), &run);
    // t = 12.706 with one degree of freedom, and a standard error of 0.01: 0.81 - 0.12706.
    assert_eq!(
        (found, reason.as_str()),
        (
            GateVerdict::Failed,
            "0.8100 (n = 2, 95 % interval [0.6829, 0.9371]): the worse end of the interval is below 0.8"
        )
    );
}

#[test]
fn a_bound_applies_to_every_measure_with_an_interval() {
    for unit in [Unit::Score, Unit::Share, Unit::Seconds, Unit::Metric] {
        let mut run = snapshot(&scored(&[0.2, 0.4, 0.6, 0.8]));
        run.measures[0].unit = unit;
        // The mean is 0.5, and Student's interval is [0.089, 0.911].
        let at = |bound| verdict(&bounded(min("RR", 0.4), bound), &run).0;
        assert_eq!(at(GateBound::Point), GateVerdict::Passed, "{unit:?}");
        assert_eq!(at(GateBound::Pessimistic), GateVerdict::Failed, "{unit:?}");
    }
}

fn timed(samples: u64) -> Snapshot {
    let cases = (1..=samples).map(|number| {
        let mut case = finished(&format!("q{number:03}"), Vec::new());
        case.timings = vec![Timing {
            stage: "search".to_owned(),
            duration: Duration::from_millis(10 * number),
            cached: false,
        }];
        case
    });
    snapshot(&report(cases.collect()))
}

#[test]
fn latencies_have_ceilings_by_stage_and_percentile() {
    // Of 10, 20, … 210 ms, the 95th percentile is 200 ms and the mean 110 ms.
    let run = timed(21);
    let at = |name: &str, ceiling| verdict(&gate([max(name, ceiling)]), &run).0;
    assert_eq!(at("latency.search.p95", 0.2), GateVerdict::Passed);
    assert_eq!(at("latency.search.p95", 0.19), GateVerdict::Failed);
    assert_eq!(at("latency.search.mean", 0.109), GateVerdict::Failed);
    assert_eq!(at("latency.p99", 1.0), GateVerdict::Passed, "of the task");
    let found = judged_snapshots(&gate([max("latency.search.p95", 0.19)]), None, &run).unwrap();
    let check = check(&found, "latency.search.p95 <= 190 ms");
    assert_eq!(check.reason, "200 ms (n = 21): above 190 ms");
}

#[test]
fn a_percentile_of_too_few_samples_fails() {
    let (found, reason) = verdict(&gate([max("latency.search.p95", 9.0)]), &timed(19));
    assert_eq!(found, GateVerdict::Failed);
    assert!(reason.starts_with("19 samples, and below 20"), "{reason}");
}

#[test]
fn an_unknown_cost_fails_and_a_known_one_is_compared() {
    let run = passes(5, 10, 0);
    let (found, reason) = verdict(&gate([max("cost", 1.0)]), &run);
    assert_eq!(found, GateVerdict::Failed);
    assert!(reason.starts_with("the cost is unknown"), "{reason}");
    let paid = run.costing(Some(0.75));
    assert_eq!(
        verdict(&gate([max("cost", 0.75)]), &paid).0,
        GateVerdict::Passed
    );
    assert_eq!(
        verdict(&gate([max("cost", 0.5)]), &paid).0,
        GateVerdict::Failed
    );
}

#[test]
fn failed_cases_have_a_ceiling() {
    let run = passes(5, 10, 3);
    assert_eq!(
        verdict(&gate([max("failed", 3.0)]), &run).0,
        GateVerdict::Passed
    );
    let found = judged_snapshots(&gate([max("failed", 2.0)]), None, &run).unwrap();
    let failed = check(&found, "failed <= 2");
    assert_eq!(failed.verdict, GateVerdict::Failed);
    let CheckNumbers::Limit(LimitCheck { value, n, .. }) = &failed.numbers else {
        panic!("{failed:?}");
    };
    assert_eq!((*value, *n), (Some(3.0), 13));
}

#[test]
fn a_stage_that_no_run_has_is_an_error_that_names_the_nearest() {
    let run = timed(21);
    let error = judged_snapshots(&gate([max("latency.serach.p95", 1.0)]), None, &run).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("did you mean `latency.search.p95`?"),
        "{error}"
    );
}

#[test]
fn a_drop_without_a_baseline_is_an_error() {
    let run = snapshot(&scored(&[1.0, 0.5]));
    let error = judged_snapshots(&gate([super::max_drop(0.1)]), None, &run).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`max-drop` of `RR` needs a baseline for run `run`"
    );
}
