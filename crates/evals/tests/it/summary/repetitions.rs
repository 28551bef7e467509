//! Repetitions in summaries.

use super::{counts, excluded, pooled, repeated, summary, with_failure};
use crate::fakes::{Words, failed, finished, outcome, report, score, undefined};
use evals::{CaseReport, MissingRepetitions, Report, Unit, Value};
use evals_metrics::Bootstrap;
use std::collections::BTreeMap;

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

#[test]
fn the_value_of_a_case_is_the_mean_over_its_repetitions_or_a_reason() {
    let check = |passed| outcome("check", Value::Assertion(passed));
    let report = report(vec![
        repeated("a", 1, vec![score("s", 1.0), check(true)]),
        repeated("a", 2, vec![score("s", 0.5), check(false)]),
        repeated("b", 1, vec![undefined("s", "silent"), check(true)]),
    ]);
    let measures = report.measure_values();
    let values = |place: usize| {
        measures[place]
            .of_cases
            .values()
            .copied()
            .collect::<Vec<_>>()
    };
    let names: Vec<_> = measures
        .iter()
        .map(|it| (it.title.as_str(), it.unit))
        .collect();
    assert_eq!(names, [("s", Unit::Score), ("check", Unit::PassRate)]);
    assert_eq!(values(0), [Ok(0.75), Err("silent")]);
    assert_eq!(values(1), [Ok(0.5), Ok(1.0)]);
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
