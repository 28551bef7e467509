//! What becomes of the evaluators' answers.

use std::time::Duration;

use evals::{CaseReport, Context, Dataset, EvaluatorError, FailureKind, Outcome, Value};

use crate::fakes::{Scripted, Words, case, dataset, echo};

async fn judged(dataset: Dataset<Words>) -> CaseReport<Words> {
    echo(dataset).await.cases.remove(0)
}

fn names(report: &CaseReport<Words>) -> Vec<&str> {
    report
        .outcomes
        .iter()
        .map(|outcome| outcome.name.as_str())
        .collect()
}

#[tokio::test]
async fn evaluators_of_the_case_come_before_those_of_the_dataset() {
    let own = Scripted::constant("own", Outcome::score("own", 1.0));
    let cases = [case("a").evaluator(own), case("b")];
    let shared = Scripted::constant("shared", Outcome::score("shared", 1.0));
    let report = echo(Dataset::new("words", cases).unwrap().evaluator(shared)).await;
    assert_eq!(names(&report.cases[0]), ["own", "shared"]);
    assert_eq!(names(&report.cases[1]), ["shared"]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_evaluator_keeps_its_place_and_the_others_do_not_wait() {
    let slow = |name, seconds| {
        Scripted::constant(name, Outcome::score(name, 1.0)).after(Duration::from_secs(seconds))
    };
    let dataset = dataset(["a"])
        .evaluator(slow("first", 3))
        .evaluator(slow("second", 1))
        .evaluator(slow("third", 2));
    let started = tokio::time::Instant::now();
    let report = judged(dataset).await;
    assert_eq!(names(&report), ["first", "second", "third"]);
    assert_eq!(started.elapsed(), Duration::from_secs(3));
}

/// pydantic-evals 2.62.0 names a label, a score and an assertion of one name `k`, `k_2` and `k_3`.
#[tokio::test]
async fn equal_names_are_told_apart_across_all_kinds() {
    let dataset = dataset(["a"])
        .evaluator(Scripted::constant("one", Outcome::label("k", "x")))
        .evaluator(Scripted::constant("two", Outcome::score("k", 0.5)))
        .evaluator(Scripted::constant("three", Outcome::assertion("k", true)));
    let report = judged(dataset).await;
    let outcomes: Vec<_> = report
        .outcomes
        .iter()
        .map(|outcome| {
            (
                outcome.name.as_str(),
                outcome.evaluator.as_str(),
                &outcome.value,
            )
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            ("k", "one", &Value::Label("x".to_owned())),
            ("k_2", "two", &Value::Score(0.5)),
            ("k_3", "three", &Value::Assertion(true)),
        ]
    );
}

#[tokio::test]
async fn a_number_that_is_taken_is_skipped() {
    let dataset = dataset(["a"])
        .evaluator(Scripted::constant("one", Outcome::score("k_2", 1.0)))
        .evaluator(Scripted::constant("two", Outcome::score("k", 2.0)))
        .evaluator(Scripted::constant("three", Outcome::score("k", 3.0)));
    let report = judged(dataset).await;
    assert_eq!(names(&report), ["k_2", "k", "k_3"]);
}

#[tokio::test]
async fn a_failed_evaluator_keeps_its_name_from_the_next_one() {
    let dataset = dataset(["a"])
        .evaluator(Scripted::new("Contains", |_| {
            Err(EvaluatorError::new("no such field"))
        }))
        .evaluator(Scripted::constant(
            "Contains",
            Outcome::assertion("Contains", true),
        ));
    let report = judged(dataset).await;
    assert_eq!(names(&report), ["Contains_2"]);
}

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
async fn scores_that_are_not_finite_are_failures_and_their_neighbours_stay() {
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

#[tokio::test]
async fn an_undefined_outcome_always_has_a_reason() {
    let silent = Outcome {
        name: "silent".to_owned(),
        value: Value::Undefined,
        reason: None,
    };
    let dataset = dataset(["a"])
        .evaluator(Scripted::constant(
            "open",
            Outcome::undefined("open", "no relevant documents"),
        ))
        .evaluator(Scripted::constant("silent", silent));
    let report = judged(dataset).await;
    let reasons: Vec<_> = report
        .outcomes
        .iter()
        .map(|outcome| outcome.reason.as_deref())
        .collect();
    assert_eq!(
        reasons,
        [Some("no relevant documents"), Some("no reason given")]
    );
}

#[tokio::test]
async fn evaluators_see_the_output_and_what_the_task_recorded() {
    let seen = Scripted::new("seen", |context: &Context<'_, Words>| {
        let timing = &context.recording.timings[0];
        let text = format!(
            "{} {} {} {:?} {} {}",
            context.output,
            context.repeat,
            timing.stage,
            timing.duration,
            timing.cached,
            context.recording.metrics["tokens"]
        );
        Ok(vec![Outcome::label("seen", text)])
    });
    let task = |case: std::sync::Arc<evals::Case<Words>>, scope: evals::TaskScope| async move {
        scope.metric("tokens", 1.0);
        scope.metric("tokens", 7.0);
        scope.cached_timing("embed", Duration::from_millis(4));
        Ok(case.input.to_uppercase())
    };
    let report = evals::Experiment::new(dataset(["a"]).evaluator(seen), task)
        .run()
        .await;
    let expected = Value::Label("INPUT OF A 1 embed 4ms true 7".to_owned());
    assert_eq!(report.cases[0].outcomes[0].value, expected);
}
