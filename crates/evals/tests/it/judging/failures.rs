//! Failures of evaluators.

use super::{judged, names};
use crate::fakes::{Scripted, dataset};
use evals::{FailureKind, Outcome};
use std::fmt;

#[tokio::test]
async fn errors_and_panics_of_evaluators_leave_the_others_alone() {
    let dataset = dataset(["a"])
        .evaluator(Scripted::new("fails", |_| {
            Err("x".parse::<u8>().unwrap_err().into())
        }))
        .evaluator(Scripted::new("panics", |_| panic!("out of range")))
        .evaluator(Scripted::constant("fine", Outcome::score("fine", 1.0)));
    let report = judged(dataset).await;
    assert_eq!(names(&report), ["fine"]);
    let failures: Vec<_> = report
        .evaluator_failures
        .iter()
        .map(|failure| {
            (
                failure.evaluator.as_str(),
                failure.kind,
                failure.message.as_str(),
            )
        })
        .collect();
    assert_eq!(
        failures,
        [
            ("fails", FailureKind::Error, "invalid digit found in string"),
            ("panics", FailureKind::Panic, "out of range"),
        ]
    );
}

#[tokio::test]
async fn a_score_that_is_not_finite_fails_alone() {
    let dataset = dataset(["a"]).evaluator(Scripted::new("many", |_| {
        Ok(vec![
            Outcome::score("x", f64::NAN),
            Outcome::score("y", 0.5),
            Outcome::score("z", f64::NEG_INFINITY),
        ])
    }));
    let report = judged(dataset).await;
    assert_eq!(names(&report), ["y"]);
    let messages: Vec<_> = report
        .evaluator_failures
        .iter()
        .map(|failure| failure.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "score `x` is not finite: NaN",
            "score `z` is not finite: -inf"
        ]
    );
    assert!(
        report
            .evaluator_failures
            .iter()
            .all(|failure| failure.kind == FailureKind::NotFinite)
    );
}

#[derive(Debug)]
struct Unprintable(fn() -> fmt::Result);

impl fmt::Display for Unprintable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("half a message ")?;
        (self.0)()
    }
}

impl std::error::Error for Unprintable {}

#[tokio::test]
async fn an_error_that_cannot_be_displayed_is_a_failure_like_any_other() {
    let broken: [fn() -> fmt::Result; 2] = [|| Err(fmt::Error), || panic!("nothing to say")];
    for broken in broken {
        let dataset = dataset(["a"]).evaluator(Scripted::new("fails", move |_| {
            Err(Unprintable(broken).into())
        }));
        let report = judged(dataset).await;
        assert_eq!(
            report.evaluator_failures[0].message,
            "half a message (an error that cannot be displayed)"
        );
    }
}
