//! Summaries, against values computed by hand.

use std::collections::BTreeMap;
use std::time::Duration;

use evals::{
    CaseReport, EvaluatorFailure, EvaluatorOrigin, FailureKind, MissingRepetitions, PassRate,
    Report, Summary, Value,
};
use evals_metrics::{Bootstrap, Mean};

use crate::fakes::{Words, failed, finished, outcome, report, score, timing, undefined};

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
    // Of the resamples of 0.5 and 1, a quarter have the mean 0.5 and a quarter 1: both are inside 95 %.
    let interval = mean.interval.unwrap();
    assert_eq!(
        (interval.low, interval.high, interval.level),
        (0.5, 1.0, 0.95)
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

#[test]
fn repetitions_are_one_sample() {
    let report = Report {
        repeat: 3,
        ..report(vec![
            repeated("a", 1, vec![score("s", 1.0)]),
            repeated("a", 2, vec![score("s", 0.0)]),
            repeated("a", 3, vec![undefined("s", "silent")]),
            repeated("b", 1, vec![score("s", 1.0)]),
            repeated("c", 1, vec![undefined("s", "silent")]),
            CaseReport {
                repeat: 2,
                ..failed("c", "gone")
            },
        ])
    };
    let mean = &report.summary(&Bootstrap::default()).scores[0].1;
    // Case a has a mean of 0.5 over the repetitions with a value, case b of 1.
    assert_eq!((mean.value, mean.n), (Some(0.75), 2));
    // Case c has no value at all; its first reason stands for it.
    assert_eq!(excluded(mean), [("silent", 1)]);
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
fn missing_repetitions_are_counted() {
    let check = |passed| outcome("check", Value::Assertion(passed));
    let tone = || outcome("tone", Value::Label("polite".to_owned()));
    let with_tokens = |case: CaseReport<Words>| CaseReport {
        metrics: BTreeMap::from([("tokens".to_owned(), 1.0)]),
        ..case
    };
    let report = Report {
        repeat: 4,
        ..report(vec![
            with_tokens(repeated("a", 1, vec![score("s", 1.0), check(true), tone()])),
            // Failing twice in one repetition is one repetition without a value.
            with_tokens(with_failure(
                with_failure(repeated("a", 2, vec![check(true), tone()]), "s"),
                "s",
            )),
            repeated(
                "a",
                3,
                vec![
                    undefined("s", "silent"),
                    check(false),
                    undefined("tone", "silent"),
                ],
            ),
            CaseReport {
                repeat: 4,
                ..failed("a", "gone")
            },
            CaseReport {
                repeat: 1,
                ..failed("b", "gone")
            },
            CaseReport {
                repeat: 2,
                ..failed("b", "gone")
            },
        ])
    };
    let summary = report.summary(&Bootstrap::default());
    let missing = &summary.missing_repetitions;
    let expected = counts(&[("evaluator failed", 1), ("silent", 1), ("task failed", 1)]);
    assert_eq!(missing.scores, [("s".to_owned(), expected)]);
    let expected = counts(&[("task failed", 1)]);
    assert_eq!(missing.assertions, [("check".to_owned(), expected.clone())]);
    assert_eq!(missing.metrics, [("tokens".to_owned(), expected)]);
    // Case b is excluded as a whole.
    assert_eq!(excluded(&summary.scores[0].1), [("task failed", 1)]);

    // Assertions and labels count each repetition, with and without a value.
    assert_eq!((pooled(&summary).passed, pooled(&summary).n), (2, 3));
    assert_eq!(pooled(&summary).excluded, counts(&[("task failed", 3)]));
    let tone = &summary.labels[0].1;
    assert_eq!(tone.n, 2);
    assert_eq!(tone.excluded, counts(&[("silent", 1), ("task failed", 3)]));
}

#[test]
fn a_case_that_ran_once_has_no_missing_repetitions() {
    let summary = summary(vec![
        finished("a", vec![score("s", 1.0)]),
        with_failure(finished("b", vec![]), "s"),
        failed("c", "gone"),
    ]);
    assert_eq!(summary.missing_repetitions, MissingRepetitions::default());
}

#[test]
fn a_measure_of_some_cases_excludes_only_those() {
    let own = |case: CaseReport<Words>| CaseReport {
        own_evaluators: vec!["rubric".to_owned()],
        ..case
    };
    let rubric = evals::CaseOutcome {
        origin: EvaluatorOrigin::Case(1),
        ..outcome("rubric", Value::Assertion(true))
    };
    let summary = summary(vec![
        own(finished(
            "a",
            vec![rubric, outcome("exact", Value::Assertion(true))],
        )),
        own(failed("b", "gone")),
        failed("c", "gone"),
    ]);
    let [(_, rubric), (_, exact)] = &summary.assertions[..] else {
        panic!("{:?}", summary.assertions);
    };
    assert_eq!(excluded(rubric), [("task failed", 1)]);
    assert_eq!(excluded(exact), [("task failed", 2)]);
    assert_eq!(pooled(&summary).excluded, counts(&[("task failed", 3)]));
}

#[test]
fn equal_names_of_two_evaluators_are_two_measures() {
    let by = |evaluator: &str, value| evals::CaseOutcome {
        evaluator: evaluator.to_owned(),
        ..score("accurate", value)
    };
    let summary = summary(vec![
        finished("a", vec![by("judge-a", 1.0), by("judge-b", 0.0)]),
        with_failure(finished("b", vec![by("judge-b", 0.5)]), "judge-a"),
    ]);
    let means: Vec<_> = summary
        .scores
        .iter()
        .map(|(name, mean)| (name.as_str(), mean.value, excluded(mean)))
        .collect();
    assert_eq!(
        means,
        [
            ("accurate", Some(1.0), vec![("evaluator failed", 1)]),
            ("accurate_2", Some(0.25), vec![]),
        ]
    );
}

#[test]
fn an_evaluator_that_always_fails_has_its_own_title() {
    let other = evals::CaseOutcome {
        evaluator: "other".to_owned(),
        ..score("judge", 1.0)
    };
    let summary = summary(vec![with_failure(finished("a", vec![other]), "judge")]);
    let names: Vec<_> = summary
        .scores
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["judge", "judge_2"]);
    assert_eq!(excluded(&summary.scores[1].1), [("evaluator failed", 1)]);
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
fn a_failed_evaluator_is_excluded_from_all_measures_of_its_other_cases() {
    let measures = |name: &str| evals::CaseOutcome {
        evaluator: "measures".to_owned(),
        origin: EvaluatorOrigin::default(),
        ..score(name, 1.0)
    };
    let summary = summary(vec![
        finished(
            "a",
            vec![measures("RR"), measures("nDCG"), score("other", 1.0)],
        ),
        // One of its two measures is missing here, as after a score that is not finite.
        with_failure(
            finished("b", vec![measures("RR"), score("other", 0.0)]),
            "measures",
        ),
        with_failure(finished("c", vec![]), "measures"),
    ]);
    let scores: BTreeMap<_, _> = summary
        .scores
        .iter()
        .map(|(name, mean)| (name.as_str(), mean))
        .collect();
    assert_eq!(
        (scores["RR"].n, excluded(scores["RR"])),
        (2, vec![("evaluator failed", 1)])
    );
    assert_eq!(
        (scores["nDCG"].n, excluded(scores["nDCG"])),
        (1, vec![("evaluator failed", 2)])
    );
    assert_eq!((scores["other"].n, excluded(scores["other"])), (2, vec![]));
}

#[test]
fn an_evaluator_that_always_fails_is_a_measure_without_a_value() {
    let summary = summary(vec![
        with_failure(finished("a", vec![]), "judge"),
        with_failure(finished("b", vec![]), "judge"),
    ]);
    let (name, mean) = &summary.scores[0];
    assert_eq!((name.as_str(), mean.value, mean.n), ("judge", None, 0));
    assert_eq!(excluded(mean), [("evaluator failed", 2)]);
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
fn one_name_with_two_kinds_is_two_measures() {
    let summary = summary(vec![
        finished("a", vec![score("k", 0.5)]),
        finished("b", vec![outcome("k", Value::Label("x".to_owned()))]),
    ]);
    assert_eq!((summary.scores[0].1.n, summary.labels[0].1.n), (1, 1));
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
