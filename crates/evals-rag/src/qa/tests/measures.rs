//! Tests of the measures without a judge.

use super::super::*;
use super::{passages, run};
use crate::answering::{ChatAnswerer, Refusals};
use crate::tests::fakes::{FoundPassages, Scripted, said};
use evals::{Evaluator, Value};
use evals_metrics::Ranking;
use evals_models::Finish;
use std::sync::Arc;

/// The outcomes of all measures without a judge for one answer, by name.
async fn measured(text: &str, answerable: bool) -> Vec<(String, Value, Option<String>)> {
    let evaluators: Vec<Arc<dyn Evaluator<Qa>>> = vec![
        Arc::new(CitationPrecision),
        Arc::new(CiteRate),
        Arc::new(Refusal::new()),
        Arc::new(ExactMatch),
        Arc::new(TokenF1),
        Arc::new(RougeL),
        Arc::new(NumberMatch),
    ];
    let report = run(&Scripted::new([said(text)]), answerable, evaluators).await;
    let outcomes = report.cases[0].outcomes.iter();
    outcomes
        .map(|outcome| {
            (
                outcome.name.clone(),
                outcome.value.clone(),
                outcome.reason.clone(),
            )
        })
        .collect()
}

fn row(name: &str, value: Value, reason: &str) -> (String, Value, Option<String>) {
    let reason = (!reason.is_empty()).then(|| reason.to_owned());
    (name.to_owned(), value, reason)
}

#[tokio::test]
async fn an_answer_is_measured() {
    // Cited: a, b. Relevant: b, c. AP = 1/2 · 1/2. Token F1 and ROUGE-L: 2 · 1 / (3 + 1).
    let expected = [
        row("citation AP", Value::Score(0.25), ""),
        row("cited", Value::Assertion(true), ""),
        row("refusal precision", Value::Undefined, "answered"),
        row("refusal recall", Value::Undefined, "answerable question"),
        row("exact match", Value::Assertion(false), ""),
        row("token F1", Value::Score(0.5), ""),
        row("ROUGE-L", Value::Score(0.5), ""),
        row(
            "number match",
            Value::Undefined,
            "reference without numbers",
        ),
    ];
    assert_eq!(measured("Maybe [1] Paris [2] again.", true).await, expected);
}

#[tokio::test]
async fn an_answer_without_citations_has_no_precision() {
    let measured = measured("Paris", true).await;
    assert_eq!(measured[0], row("citation AP", Value::Score(0.0), ""));
    assert_eq!(measured[1], row("cited", Value::Assertion(false), ""));
    assert_eq!(measured[4], row("exact match", Value::Assertion(true), ""));
}

#[tokio::test]
async fn a_wrong_refusal_is_measured() {
    let expected = [
        row("citation AP", Value::Undefined, "refused"),
        row("cited", Value::Undefined, "refused"),
        row("refusal precision", Value::Assertion(false), ""),
        row("refusal recall", Value::Undefined, "answerable question"),
        row("exact match", Value::Assertion(false), "refused"),
        row("token F1", Value::Score(0.0), "refused"),
        row("ROUGE-L", Value::Score(0.0), "refused"),
        row(
            "number match",
            Value::Undefined,
            "reference without numbers",
        ),
    ];
    assert_eq!(measured("I don't know.", true).await, expected);
}

#[tokio::test]
async fn refusals_of_unanswerable_questions_are_right() {
    let refused = measured("I don't know.", false).await;
    let unanswerable = |name| row(name, Value::Undefined, "unanswerable");
    let citing = ["citation AP", "cited"].map(unanswerable);
    assert_eq!(refused[..2], citing);
    let right = Value::Assertion(true);
    assert_eq!(refused[2], row("refusal precision", right.clone(), ""));
    assert_eq!(refused[3], row("refusal recall", right, ""));
    assert_eq!(refused[5], unanswerable("token F1"));
    let answered = measured("Paris [2].", false).await;
    assert_eq!(answered[..2], citing, "there is nothing to cite");
    assert_eq!(
        answered[2],
        row("refusal precision", Value::Undefined, "answered")
    );
    assert_eq!(
        answered[3],
        row("refusal recall", Value::Assertion(false), "")
    );
}

#[test]
fn citations_of_one_document_count_once() {
    let answered = crate::answering::Answered {
        text: "A [1]. B [3]. C [2].".to_owned(),
        refused: false,
        finish: Finish::Stop,
        calls: Vec::new(),
    };
    let answer = Answer::new(answered, passages(), Ranking::default());
    assert_eq!(answer.citations, ["a", "b"]);
}

#[tokio::test]
async fn the_best_of_several_right_answers_counts() {
    let right = |answer: &str, accepted: &[&str]| Question {
        answer: Some(answer.to_owned()),
        accepted: accepted.iter().map(ToString::to_string).collect(),
        ..super::question("q", true)
    };
    for (question, text, expected) in [
        (
            right("Paris", &["City of Light", "48"]),
            "the city of light",
            [
                Value::Assertion(true),
                Value::Score(1.0),
                // Three of the four words of the answer, and all three of the reference.
                Value::Score(6.0 / 7.0),
                Value::Assertion(false),
            ],
        ),
        (
            right("Paris", &["48 Paris"]),
            "Paris",
            [
                Value::Assertion(true),
                Value::Score(1.0),
                Value::Score(1.0),
                Value::Assertion(false),
            ],
        ),
        (
            right("48", &["49"]),
            "49 of them",
            [
                Value::Assertion(false),
                Value::Score(0.5),
                Value::Score(0.5),
                Value::Assertion(true),
            ],
        ),
    ] {
        let model = Scripted::new([said(text)]);
        let answerer = ChatAnswerer::new(Arc::clone(&model) as _, Refusals::default());
        let settings = Settings::new(std::num::NonZeroUsize::new(3).unwrap());
        let task = task(
            Arc::new(FoundPassages(passages())),
            Arc::new(answerer),
            settings,
        );
        let evaluators: Vec<Arc<dyn Evaluator<Qa>>> = vec![
            Arc::new(ExactMatch),
            Arc::new(TokenF1),
            Arc::new(RougeL),
            Arc::new(NumberMatch),
        ];
        let dataset = dataset("demo", [question])
            .unwrap()
            .with_evaluators(evaluators);
        let report = evals::Experiment::new(dataset, task).run().await;
        let values: Vec<Value> = report.cases[0]
            .outcomes
            .iter()
            .map(|it| it.value.clone())
            .collect();
        assert_eq!(values, expected, "{text}");
    }
}
