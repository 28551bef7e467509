//! Summaries, against values computed by hand.

mod evaluators;
mod repetitions;

use crate::fakes::{Words, failed, finished, outcome, report, score, timing, undefined};
use evals::{
    CaseReport, EvaluatorFailure, EvaluatorOrigin, FailureKind, PassRate, Report, Summary, Value,
};
use evals_metrics::{Bootstrap, Mean};
use std::collections::BTreeMap;
use std::time::Duration;

fn summary(cases: Vec<CaseReport<Words>>) -> Summary {
    report(cases).summary(&Bootstrap::default())
}

fn with_failure(mut case: CaseReport<Words>, evaluator: &str) -> CaseReport<Words> {
    case.evaluator_failures.push(EvaluatorFailure {
        evaluator: evaluator.to_owned(),
        origin: EvaluatorOrigin::default(),
        kind: FailureKind::Error,
        class: None,
        message: "unavailable".to_owned(),
    });
    case
}

fn repeated(id: &str, repeat: u32, outcomes: Vec<evals::CaseOutcome>) -> CaseReport<Words> {
    CaseReport {
        repeat,
        ..finished(id, outcomes)
    }
}

fn excluded(mean: &Mean) -> Vec<(&str, usize)> {
    mean.excluded
        .iter()
        .map(|(reason, count)| (reason.as_str(), *count))
        .collect()
}

#[test]
fn a_mean_states_its_cases_and_exclusions() {
    let summary = summary(vec![
        finished("a", vec![score("RR", 1.0)]),
        finished("b", vec![score("RR", 0.5)]),
        finished("c", vec![undefined("RR", "no relevant documents")]),
        failed("d", "connection refused"),
        with_failure(finished("e", vec![]), "RR"),
        with_failure(finished("f", vec![]), "RR"),
    ]);
    let [(name, mean)] = &summary.scores[..] else {
        panic!("{:?}", summary.scores);
    };
    assert_eq!(name, "RR");
    assert_eq!((mean.value, mean.n), (Some(0.75), 2));
    assert_eq!(
        excluded(mean),
        [
            ("evaluator failed", 2),
            ("no relevant documents", 1),
            ("task failed", 1)
        ]
    );
    // t = 12.7 with one degree of freedom, and the standard error 0.25: the scale ends before the interval.
    let interval = mean.interval.unwrap();
    assert_eq!(
        (interval.low, interval.high, interval.level),
        (0.0, 1.0, 0.95)
    );
    assert_eq!(
        (summary.finished, summary.failed, summary.evaluator_failures),
        (6, 1, 2)
    );
}

#[test]
fn measures_are_in_first_seen_order() {
    let summary = summary(vec![
        finished("a", vec![score("z", 1.0), undefined("m", "unknown")]),
        finished("b", vec![score("a", 1.0), score("z", 0.0), score("m", 1.0)]),
    ]);
    let names: Vec<_> = summary
        .scores
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["z", "m", "a"]);
}

fn pooled(summary: &Summary) -> &PassRate {
    summary.pass_rate.as_ref().unwrap()
}

fn counts(reasons: &[(&str, usize)]) -> BTreeMap<String, usize> {
    let reasons = reasons.iter();
    reasons
        .map(|(reason, count)| ((*reason).to_owned(), *count))
        .collect()
}

#[test]
fn the_interval_of_scores_from_0_to_1_stays_there() {
    let interval = |values: [f64; 3]| {
        let cases = values.iter().enumerate();
        let cases = cases.map(|(number, value)| {
            finished(&number.to_string(), vec![score("Levenshtein", *value)])
        });
        let (_, mean) = summary(cases.collect()).scores.remove(0);
        mean.interval.unwrap()
    };
    let shares = interval([0.4, 0.9, 1.0]);
    assert!(shares.low >= 0.0 && shares.high <= 1.0, "{shares:?}");
    // Student's t, by hand: 2.8 ± 4.3027 · 1.9672 / √3.
    let grades = interval([1.0, 2.5, 4.9]);
    assert!((grades.high - 7.6869).abs() < 1e-3, "{grades:?}");
}

#[test]
fn the_largest_numbers_have_a_mean_that_reads_back() {
    let largest = f64::MAX;
    let report = Report {
        repeat: 2,
        ..report(vec![
            repeated("a", 1, vec![score("s", largest)]),
            repeated("a", 2, vec![score("s", largest)]),
            repeated("b", 1, vec![score("s", largest)]),
            repeated("c", 1, vec![score("s", -largest)]),
        ])
    };
    let summary = report.summary(&Bootstrap::default());
    let mean = &summary.scores[0].1;
    // Cases a and b have the largest number and c the smallest.
    assert_eq!((mean.n, excluded(mean)), (3, vec![]));
    let third = mean.value.unwrap() / largest;
    assert!((third - 1.0 / 3.0).abs() < 1e-12, "{third}");
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
}

#[test]
fn only_cases_that_succeeded_have_a_rate() {
    // The run took 1.24 seconds.
    let one = summary(vec![finished("a", vec![]), failed("b", "gone")]);
    assert_eq!(one.throughput(), Some(1.0 / 1.24));
    assert_eq!(summary(vec![failed("a", "gone")]).throughput(), None);
}

#[test]
fn assertions_are_pooled_and_counted_one_by_one() {
    let check = |name: &str, passed| outcome(name, Value::Assertion(passed));
    let summary = summary(vec![
        finished("a", vec![check("exact", true), check("short", true)]),
        finished(
            "b",
            vec![check("exact", false), undefined("short", "no text")],
        ),
        failed("c", "gone"),
    ]);
    assert_eq!(
        (
            pooled(&summary).value,
            pooled(&summary).passed,
            pooled(&summary).n
        ),
        (Some(2.0 / 3.0), 2, 3)
    );
    let (_, exact) = &summary.assertions[0];
    assert_eq!((exact.value, exact.n), (Some(0.5), 2));
    let (name, short) = &summary.assertions[1];
    assert_eq!(
        (name.as_str(), short.value, short.n),
        ("short", Some(1.0), 1)
    );
    assert_eq!(excluded(short), [("no text", 1), ("task failed", 1)]);
    assert!(summary.scores.is_empty());
}

#[test]
fn labels_are_shares() {
    let tone = |label: &str| outcome("tone", Value::Label(label.to_owned()));
    let summary = summary(vec![
        finished("a", vec![tone("polite")]),
        finished("b", vec![tone("rude")]),
        finished("c", vec![tone("polite")]),
        finished("d", vec![undefined("tone", "no text")]),
        failed("e", "gone"),
    ]);
    let (name, shares) = &summary.labels[0];
    assert_eq!((name.as_str(), shares.n), ("tone", 3));
    assert_eq!(shares.share("polite"), Some(2.0 / 3.0));
    assert_eq!(shares.share("angry"), Some(0.0));
    assert_eq!(
        shares.excluded,
        BTreeMap::from([("no text".to_owned(), 1), ("task failed".to_owned(), 1)])
    );
}

#[test]
fn cached_timings_are_kept_apart() {
    let mut cases: Vec<_> = (0..25)
        .map(|number| {
            let mut case = finished(&format!("q{number}"), vec![]);
            case.duration = Duration::from_millis(10);
            case.timings = vec![timing("embed", 1_000, false)];
            case
        })
        .collect();
    for case in &mut cases[..5] {
        case.duration = Duration::from_mins(1);
        case.timings = vec![timing("embed", 9_000_000, true)];
    }
    cases.push(CaseReport {
        duration: Duration::from_mins(1),
        timings: vec![timing("embed", 1_000, false)],
        ..failed("q25", "gone")
    });
    let summary = summary(cases);
    let (stage, embed) = &summary.timings[0];
    assert_eq!(
        (stage.as_str(), embed.n, embed.p99),
        ("embed", 21, Some(0.001))
    );
    let (stage, cached) = &summary.cached_timings[0];
    assert_eq!(
        (stage.as_str(), cached.n, cached.mean, cached.p50),
        ("embed", 5, Some(9.0), None)
    );
    assert_eq!(
        (summary.task_time.n, summary.task_time.p99),
        (20, Some(0.01))
    );
    assert_eq!(
        summary.throughput(),
        None,
        "a rate of the cache is nobody's rate"
    );
}

#[test]
fn an_untimed_case_is_no_sample_of_the_tasks_time() {
    let mut cases: Vec<_> = (0..3)
        .map(|number| CaseReport {
            duration: Duration::from_secs(1),
            ..finished(&format!("q{number}"), vec![])
        })
        .collect();
    assert_eq!(summary(cases.clone()).task_time.n, 3);
    assert!(summary(cases.clone()).throughput().is_some());
    let reason = serde_json::json!("searched with the others");
    let attribute = CaseReport::<Words>::UNTIMED.to_owned();
    cases[1].attributes.insert(attribute, reason);
    assert_eq!(cases[1].untimed(), Some("searched with the others"));
    let summary = summary(cases);
    assert_eq!(summary.task_time.n, 2);
    assert_eq!(summary.throughput(), None);
}

#[test]
fn metrics_are_means_over_the_cases_that_have_them() {
    let with_tokens = |id: &str, tokens: f64| CaseReport {
        metrics: BTreeMap::from([("tokens".to_owned(), tokens)]),
        ..finished(id, vec![])
    };
    let summary = summary(vec![
        with_tokens("a", 10.0),
        finished("b", vec![]),
        with_tokens("c", 30.0),
        failed("d", "gone"),
    ]);
    let (name, tokens) = &summary.metrics[0];
    assert_eq!(
        (name.as_str(), tokens.value, tokens.n),
        ("tokens", Some(20.0), 2)
    );
    assert_eq!(excluded(tokens), [("task failed", 1)]);
}

#[test]
fn an_empty_report_has_no_aggregates() {
    let summary = summary(vec![]);
    assert!(summary.scores.is_empty());
    assert_eq!(
        (
            pooled(&summary).value,
            summary.task_time.n,
            summary.task_time.mean
        ),
        (None, 0, None)
    );
}

#[test]
fn a_summary_reads_back_in_order() {
    let report = report(vec![
        finished("a", vec![score("z", 0.1), score("a", 0.2), score("m", 0.3)]),
        failed("b", "gone"),
    ]);
    let summary = report.summary(&Bootstrap::default());
    let text = serde_json::to_string(&summary).unwrap();
    assert!(text.contains(r#""scores":{"z":{"#), "{text}");
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
}
