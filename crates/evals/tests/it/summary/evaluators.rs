//! Measures of several and of failed evaluators.

use super::{counts, excluded, pooled, summary, with_failure};
use crate::fakes::{Words, failed, finished, outcome, score};
use evals::{CaseReport, EvaluatorIdentity, EvaluatorOrigin, Value};
use std::collections::BTreeMap;

#[test]
fn a_measure_of_some_cases_excludes_only_those() {
    let own = |case: CaseReport<Words>| CaseReport {
        own_evaluators: vec![EvaluatorIdentity::named("rubric")],
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
fn one_name_with_two_kinds_is_two_measures() {
    let summary = summary(vec![
        finished("a", vec![score("k", 0.5)]),
        finished("b", vec![outcome("k", Value::Label("x".to_owned()))]),
    ]);
    assert_eq!((summary.scores[0].1.n, summary.labels[0].1.n), (1, 1));
}

#[test]
fn an_evaluator_that_only_failed_is_named() {
    let summary = summary(vec![
        with_failure(
            with_failure(finished("a", vec![score("RR", 1.0)]), "RR"),
            "judge",
        ),
        with_failure(with_failure(finished("b", vec![]), "RR"), "judge"),
        failed("c", "connection refused"),
    ]);
    assert_eq!(summary.failed_evaluators, ["judge"]);
    assert_eq!(summary.evaluator_failures, 4);
}
