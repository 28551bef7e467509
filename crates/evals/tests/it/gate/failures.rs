//! Cases without a value: a verdict never gets better because cases failed.

use evals::{
    Allowance, Direction, Gate, GateBound, GateReport, GateVerdict, Report, Strictness, Timing,
    Value,
};

use super::{
    check, drop_numbers, gate, judged, judged_snapshots, max, max_drop, min, scored, snapshot,
};
use crate::fakes::{Words, failed, finished, outcome, report, undefined};

/// A gate that lets cases lose their values.
fn lenient(tolerance: f64) -> Gate {
    Gate {
        allowed: [Allowance::LowerCoverage].into(),
        ..gate([max_drop(tolerance)])
    }
}

/// A report in which the first cases failed.
fn broken(mut report: Report<Words>, count: usize) -> Report<Words> {
    for number in 0..count {
        report.cases[number] = failed(&format!("q{number:03}"), "timed out");
    }
    report
}

fn verdict(report: &GateReport, name: &str) -> (GateVerdict, String) {
    let check = check(report, name);
    (check.verdict, check.reason.clone())
}

/// The value of forty cases, with some variation.
fn values(of: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..40).map(of).collect()
}

#[test]
fn lost_cases_take_the_pass_of_a_drop_away() {
    // Every second case got a little better and every other one a little worse.
    let before = scored(&[0.5; 40]);
    let wobbling = scored(&values(|case| if case % 2 == 0 { 0.49 } else { 0.51 }));
    let whole = judged(&lenient(0.05), &before, &wobbling).unwrap();
    assert_eq!(verdict(&whole, "RR drop <= 0.05").0, GateVerdict::Passed);
    let after = broken(wobbling.clone(), 8);
    let found = judged(&lenient(0.05), &before, &after).unwrap();
    let (verdict, reason) = verdict(&found, "RR drop <= 0.05");
    assert_eq!(verdict, GateVerdict::CannotTell, "{reason}");
    // Eight differences of -0.5 among forty.
    assert!(
        reason.contains("; but 8 cases have no value in this run, and if they count against it: worse by 0.1000,")
            && reason.ends_with("and larger than 0.05 (n = 40)"),
        "{reason}"
    );
    let numbers = drop_numbers(check(&found, "RR drop <= 0.05"));
    assert_eq!(
        (numbers.n, numbers.only_before, numbers.only_after),
        (32, 8, 0)
    );
    let strict = Gate {
        strictness: Strictness::Strict,
        ..lenient(0.05)
    };
    assert!(judged(&strict, &before, &after).unwrap().is_closed());
}

#[test]
fn few_lost_cases_are_counted_and_change_nothing() {
    let before = scored(&[0.5; 40]);
    let after = broken(before.clone(), 1);
    let found = judged(&lenient(0.1), &before, &after).unwrap();
    let (verdict, reason) = verdict(&found, "RR drop <= 0.1");
    assert_eq!(
        (verdict, reason.as_str()),
        (
            GateVerdict::Passed,
            "no case changed (n = 39); 1 case has no value in this run, which would not change the decision"
        )
    );
}

#[test]
fn an_undefined_value_is_lost_too() {
    let before = scored(&[0.5; 40]);
    let mut after = before.clone();
    for number in 0..8 {
        after.cases[number] =
            finished(&format!("q{number:03}"), vec![undefined("RR", "no answer")]);
    }
    let found = judged(&lenient(0.05), &before, &after).unwrap();
    assert_eq!(
        verdict(&found, "RR drop <= 0.05").0,
        GateVerdict::CannotTell
    );
}

#[test]
fn a_reason_that_reads_like_a_failure_is_none() {
    let cases = (0..10).map(|number| {
        let outcome = if number < 5 {
            undefined("F1", "task failed")
        } else {
            outcome("F1", Value::Score(0.75))
        };
        finished(&format!("q{number}"), vec![outcome])
    });
    let run = snapshot(&report(cases.collect()));
    let found = judged_snapshots(&gate([min("F1", 0.7)]), None, &run).unwrap();
    assert_eq!(verdict(&found, "F1 >= 0.7").0, GateVerdict::Passed);
}

#[test]
fn failures_of_the_baseline_do_not_help_the_run() {
    let after = scored(&[0.5; 40]);
    let before = broken(after.clone(), 8);
    let found = judged(&gate([max_drop(0.05)]), &before, &after).unwrap();
    let (verdict, reason) = verdict(&found, "RR drop <= 0.05");
    assert_eq!(verdict, GateVerdict::CannotTell, "{reason}");
    assert!(
        reason.contains("; but 8 cases have no value in the baseline, and if they count"),
        "{reason}"
    );
}

#[test]
fn cases_that_failed_in_both_runs_show_nothing() {
    let both = broken(scored(&[0.5; 40]), 8);
    // 32 unchanged cases exclude drops above 1 - 0.025^(1/32) = 0.1089.
    let found = judged(&gate([max_drop(0.11)]), &both, &both).unwrap();
    assert_eq!(
        verdict(&found, "RR drop <= 0.11"),
        (GateVerdict::Passed, "no case changed (n = 32)".to_owned())
    );
}

fn passes(passed: usize, all: usize, failures: usize) -> evals::Snapshot {
    let cases = (0..all).map(|number| {
        let right = outcome("right", Value::Assertion(number < passed));
        finished(&format!("q{number:03}"), vec![right])
    });
    let failures = (0..failures).map(|number| failed(&format!("x{number:03}"), "timed out"));
    snapshot(&report(cases.chain(failures).collect()))
}

#[test]
fn a_pessimistic_bound_counts_failures_as_the_worst_value() {
    // Wilson's lower end of 95 in 100 is 0.8882, and of 95 in 110 it is 0.7871.
    let run = passes(95, 100, 10);
    let bounded = |floor| Gate {
        bound: GateBound::Pessimistic,
        ..gate([min("right", floor)])
    };
    let found = judged_snapshots(&bounded(0.85), None, &run).unwrap();
    let (verdict_of, reason) = verdict(&found, "right >= 0.85");
    assert_eq!(verdict_of, GateVerdict::Failed);
    assert_eq!(
        reason,
        "0.9500 (n = 100, 95 % interval [0.8882, 0.9785]), but 10 more failed and have no value; if they count as 0, the worse end of \
         the interval is 0.7871 and below 0.85"
    );
    let kept = judged_snapshots(&bounded(0.78), None, &run).unwrap();
    let (verdict_of, reason) = verdict(&kept, "right >= 0.78");
    assert_eq!(verdict_of, GateVerdict::Passed);
    assert!(
        reason
            .ends_with("not below 0.78, also if they count as 0: 10 more failed and have no value"),
        "{reason}"
    );
}

#[test]
fn failures_count_as_the_worst_grade_where_nothing_limits_grades() {
    let cases = (0..10).map(|number| {
        let grade = outcome("grade", Value::Score(f64::from(3 + number % 3)));
        finished(&format!("q{number}"), vec![grade])
    });
    let failures = (0..10).map(|number| failed(&format!("x{number}"), "timed out"));
    let run = snapshot(&report(cases.chain(failures).collect()));
    let found = judged_snapshots(&gate([min("grade", 3.8)]), None, &run).unwrap();
    let (verdict, reason) = verdict(&found, "grade >= 3.8");
    assert_eq!(verdict, GateVerdict::CannotTell, "{reason}");
    assert!(
        reason.ends_with(
            "10 more failed and have no value; if they count as 3, it is 3.4500 and below 3.8"
        ),
        "{reason}"
    );
}

/// A run with these latencies of its search in milliseconds, so many failed cases, and so many cases with a result from a cache.
fn searched(latencies: &[u64], failures: usize, cached: usize) -> evals::Snapshot {
    let case = |id: String, milliseconds: u64, cached: bool| {
        let mut case = finished(&id, vec![outcome("RR", Value::Score(0.5))]);
        case.timings = vec![Timing {
            stage: "search".to_owned(),
            duration: std::time::Duration::from_millis(milliseconds),
            cached,
        }];
        case
    };
    let timed = latencies.iter().enumerate();
    let timed = timed.map(|(number, latency)| case(format!("q{number:03}"), *latency, false));
    let cached = (0..cached).map(|number| case(format!("c{number:03}"), 1, true));
    let failures = (0..failures).map(|number| failed(&format!("x{number:03}"), "timed out"));
    snapshot(&report(timed.chain(cached).chain(failures).collect()))
}

/// The verdict on a ceiling of the search, in seconds.
fn search_verdict(run: &evals::Snapshot, statistic: &str, ceiling: f64) -> (GateVerdict, String) {
    let rule = max(&format!("latency.search.{statistic}"), ceiling);
    let found = judged_snapshots(&gate([rule]), None, run).unwrap();
    let (_, check) = found.checks().next().unwrap();
    (check.verdict, check.reason.clone())
}

#[test]
fn slow_cases_that_timed_out_do_not_lower_a_latency() {
    // With the timeouts as the slowest cases, the 95th percentile of 100 is beyond the 95 timed ones.
    let latencies = [[1_000; 91].as_slice(), &[10_000; 4]].concat();
    assert_eq!(
        search_verdict(&searched(&latencies, 5, 0), "p95", 2.0),
        (
            GateVerdict::CannotTell,
            "1.0 s (n = 95), but 5 more failed and have no value; they could be slower than every stored percentile"
                .to_owned()
        )
    );
    assert_eq!(
        search_verdict(&searched(&latencies, 0, 0), "p95", 2.0).0,
        GateVerdict::Passed
    );
}

#[test]
fn a_higher_percentile_stands_in_where_cases_timed_out() {
    // Position 94.05 of 0 to 99 is the share 94.05 / 96 = 0.98 of the 97 timed cases, so that their 99th percentile is enough.
    let slow = searched(&[[100; 93].as_slice(), &[1_000; 4]].concat(), 3, 0);
    assert_eq!(
        search_verdict(&slow, "p95", 0.2),
        (
            GateVerdict::CannotTell,
            "100 ms (n = 97), but 3 more failed and have no value; if they were the slowest (p99 of the others counts), it is 1.0 s and \
             above 200 ms"
                .to_owned()
        )
    );
    assert_eq!(
        search_verdict(&searched(&[100; 97], 3, 0), "p95", 0.2),
        (
            GateVerdict::Passed,
            "100 ms (n = 97): not above 200 ms, also if they were the slowest (p99 of the others counts): 3 more failed and have no value"
                .to_owned()
        )
    );
    // The median of 100 is the share 0.52 of the timed cases.
    assert_eq!(search_verdict(&slow, "p50", 0.2).0, GateVerdict::Passed);
    assert_eq!(
        search_verdict(&slow, "mean", 0.2).0,
        GateVerdict::CannotTell
    );
}

#[test]
fn results_from_a_cache_do_not_make_failures_few() {
    // Two failures are 2 % of all cases, and 8 % of those that ran.
    let run = searched(&[100; 23], 2, 75);
    let (verdict, reason) = search_verdict(&run, "p95", 0.2);
    assert_eq!(verdict, GateVerdict::CannotTell, "{reason}");
}

#[test]
fn failed_cases_do_not_make_a_run_cheap() {
    let run = passes(60, 60, 40).costing(Some(0.6));
    let found = judged_snapshots(&gate([max("cost", 0.8)]), None, &run).unwrap();
    assert_eq!(
        verdict(&found, "cost <= 0.8"),
        (
            GateVerdict::CannotTell,
            "0.6 (n = 100), but 40 more failed and have no value; if they had cost as much as the others, it is 1 and above 0.8"
                .to_owned()
        )
    );
}

#[test]
fn the_worst_value_of_a_measure_where_lower_is_better_is_1() {
    let with = |failures: usize| {
        let cases = (0..40).map(|number| {
            let id = format!("q{number:03}");
            if number < failures {
                return failed(&id, "timed out");
            }
            let mut errors = outcome("errors", Value::Score(0.25));
            errors.better = Direction::Lower;
            finished(&id, vec![errors])
        });
        report(cases.collect())
    };
    let rule = evals::Rule::MaxDrop {
        measure: "errors".to_owned(),
        tolerance: 0.1,
    };
    let gate = Gate {
        allowed: [Allowance::LowerCoverage].into(),
        ..gate([rule])
    };
    let found = judged(&gate, &with(0), &with(8)).unwrap();
    let (verdict, reason) = verdict(&found, "errors drop <= 0.1");
    assert_eq!(verdict, GateVerdict::CannotTell);
    // Eight of forty rise by 0.75.
    assert!(reason.contains("worse by 0.1500"), "{reason}");
}
