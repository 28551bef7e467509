//! Tests of our measures on outputs of several shapes.

mod fuzz;
mod judge;

use std::collections::BTreeMap;
use std::sync::Arc;

use evals::{Case, Concern, Context, Evaluator, EvaluatorSpec, Outcome, Recording, SpecArguments};
use evals_rag::{Missing, Question};
use serde_json::{Value, json};

use crate::{Built, Registry, RegistryError, Resources, Untyped};

fn build(
    name: &str,
    arguments: SpecArguments,
) -> Result<Arc<dyn Evaluator<Untyped>>, RegistryError> {
    let spec = EvaluatorSpec {
        name: name.to_owned(),
        arguments,
    };
    match Registry::built_in().build(&spec, &Resources::default())? {
        Built::Case(evaluator) => Ok(evaluator),
        Built::Report(_) => panic!("`{name}` judges reports"),
    }
}

fn positional(value: Value) -> SpecArguments {
    SpecArguments::Positional([value])
}

fn case(expected: Value, metadata: Value) -> Case<Untyped> {
    let mut case = Case::new("q", json!("Which city?")).expecting(expected);
    case.metadata = metadata;
    case
}

async fn judged(
    name: &str,
    arguments: SpecArguments,
    case: &Case<Untyped>,
    output: Value,
) -> Result<Vec<Outcome>, String> {
    let evaluator = build(name, arguments).unwrap();
    let outcomes = evaluator.evaluate(&Context::new(case, &output)).await;
    outcomes.map_err(|error| error.get_ref().to_string())
}

/// Reciprocal rank with `b` the only relevant document.
async fn reciprocal_rank(output: Value) -> Result<Vec<Outcome>, String> {
    let case = case(json!(["b"]), Value::Null);
    judged("RankMeasures", positional(json!("RR@10")), &case, output).await
}

fn rr(score: f64) -> Vec<Outcome> {
    vec![Outcome::score("RR@10", score)]
}

#[tokio::test]
async fn documents_are_read_in_every_usual_shape() {
    for output in [
        json!(["a", "b"]),
        json!([{"id": "a"}, {"id": "b", "score": 9}]),
        json!({"documents": ["a", "b"], "answer": "x"}),
        json!({"documents": [{"id": "a", "text": "…"}, {"id": "b"}]}),
        // Of several passages of a document the first one counts, and a document without an id keeps its place.
        json!(["a", "a", "b", "a"]),
        json!([{"title": "no id"}, "b", "b"]),
    ] {
        assert_eq!(
            reciprocal_rank(output.clone()).await,
            Ok(rr(0.5)),
            "{output}"
        );
    }
    assert_eq!(reciprocal_rank(json!([])).await, Ok(rr(0.0)));
    assert_eq!(reciprocal_rank(json!({"documents": []})).await, Ok(rr(0.0)));
}

#[tokio::test]
async fn documents_of_a_reply_are_read_from_the_recording() {
    let case = case(json!(["b"]), Value::Null);
    let evaluator = build("RankMeasures", positional(json!("RR@10"))).unwrap();
    let recording = Recording {
        attributes: BTreeMap::from([("documents".to_owned(), json!([{"id": "a"}, {"id": "b"}]))]),
        ..Recording::default()
    };
    // Beside documents, a list is an answer like any other.
    for output in [json!("It is b."), json!({"answer": "b"}), json!(["b", "c"])] {
        let mut context = Context::new(&case, &output);
        context.recording = &recording;
        let outcomes = evaluator.evaluate(&context).await.unwrap();
        assert_eq!(outcomes, rr(0.5), "{output}");
    }
}

#[tokio::test]
async fn outputs_without_documents_are_undefined() {
    let undefined = Ok(vec![Outcome::undefined(
        "RR@10",
        Missing::Documents.reason(),
    )]);
    for output in [
        json!("text"),
        json!(null),
        json!({"answer": "x"}),
        json!({"documents": null}),
    ] {
        assert_eq!(reciprocal_rank(output).await, undefined);
    }
}

#[tokio::test]
async fn documents_that_cannot_be_read_are_a_failure() {
    for (output, start) in [
        (json!({"documents": "a"}), r#""a""#),
        (json!([["a"]]), r#"[["a"]]"#),
        (json!(["a", 1.5]), r#"["a",1.5]"#),
    ] {
        let message =
            format!("`documents` must be a list of ids, or of objects with an `id`, not `{start}`");
        assert_eq!(reciprocal_rank(output).await, Err(message));
    }
}

#[tokio::test]
async fn relevant_documents_are_read_in_every_usual_shape() {
    // nDCG@2 of [7, b] with grades 1 and 2: (1 + 2 / log2 3) / (2 + 1 / log2 3).
    let log = 3_f64.log2();
    let graded = (1.0 + 2.0 / log) / (2.0 + 1.0 / log);
    for (expected, metadata, score) in [
        (json!({"7": 1, "b": 2}), json!(null), graded),
        (json!({"relevant": {"7": 1, "b": 2}}), json!(null), graded),
        (
            json!("an answer"),
            json!({"relevant": {"7": 1, "b": 2}}),
            graded,
        ),
        (
            json!({"answer": "x", "relevant": [7, "b"]}),
            json!(null),
            1.0,
        ),
        (json!([7, "b"]), json!({"topic": "x"}), 1.0),
        (json!(null), json!({"relevant": [7, "b"]}), 1.0),
    ] {
        let case = case(expected, metadata);
        let ndcg = judged(
            "RankMeasures",
            positional(json!(["nDCG@2"])),
            &case,
            json!([7, "b"]),
        )
        .await;
        let ndcg = ndcg.unwrap();
        let evals::Value::Score(found) = ndcg[0].value else {
            panic!("{ndcg:?}")
        };
        assert!(
            (found - score).abs() < 1e-12,
            "{:?}: {found}",
            case.expected
        );
        let concerns = build("RankMeasures", positional(json!(["nDCG@2"])))
            .unwrap()
            .concerns(&case);
        assert_eq!(concerns, Some(vec![Concern::score("nDCG@2")]));
    }
}

#[tokio::test]
async fn without_relevant_documents_measures_are_undefined() {
    for (expected, metadata, reason) in [
        (json!("an answer"), json!(null), "no relevant documents"),
        (json!(null), json!(null), "no relevant documents"),
        (json!([]), json!(null), "no relevant documents"),
        (
            json!(["a"]),
            json!({"answerable": false}),
            Question::UNANSWERABLE,
        ),
        (
            json!("I don't know."),
            json!({"relevant": ["a"]}),
            Question::UNANSWERABLE,
        ),
    ] {
        let case = case(expected, metadata);
        let outcomes = judged("RankMeasures", SpecArguments::None, &case, json!(["a"])).await;
        let names = ["nDCG@10", "RR@10", "R@10"];
        let undefined = names.map(|name| Outcome::undefined(name, reason));
        assert_eq!(outcomes, Ok(Vec::from(undefined)), "{:?}", case.expected);
        let concerns = build("RankMeasures", SpecArguments::None)
            .unwrap()
            .concerns(&case);
        assert_eq!(concerns, Some(Vec::new()));
    }
    let case = case(json!(null), json!({"relevant": "a"}));
    assert_eq!(
        judged("RankMeasures", SpecArguments::None, &case, json!(["a"])).await,
        Err("`relevant` must be a list of ids, or an object of ids and whole-number grades, not `\"a\"`".to_owned())
    );
}

#[test]
fn measures_are_checked_before_the_run() {
    let refused = |value| {
        build("RankMeasures", positional(value))
            .unwrap_err()
            .to_string()
    };
    for value in [json!([]), json!([1]), json!({"a": 1}), json!(null)] {
        let message =
            format!("`RankMeasures`: `measures`: expected a list of measures, found `{value}`");
        assert_eq!(refused(value), message);
    }
    let message = refused(json!(["nDGC@10"]));
    assert!(message.starts_with("`RankMeasures`: "), "{message}");
    assert!(message.contains("nDCG@10"), "{message}");
}

#[tokio::test]
async fn citations_are_listed_or_marked_in_the_answer() {
    let case = case(json!({"answer": "Paris", "relevant": ["b"]}), Value::Null);
    let precision = |output| judged("CitationPrecision", SpecArguments::None, &case, output);
    let score = |score| Ok(vec![Outcome::score("citation AP", score)]);
    let documents = json!(["a", "b"]);
    for (output, expected) in [
        (json!({"answer": "Paris", "citations": ["a", "b"]}), 0.5),
        (
            json!({"answer": "Paris", "citations": [{"id": "b"}, "a"]}),
            1.0,
        ),
        (json!({"answer": "Paris [2].", "documents": documents}), 1.0),
        (
            json!({"answer": "Paris [1][2].", "documents": documents}),
            0.5,
        ),
        (
            json!({"answer": "Paris [1], twice [1], [2].", "documents": documents}),
            0.5,
        ),
        (json!({"answer": "Paris.", "documents": documents}), 0.0),
        (
            json!({"answer": "Paris [2].", "documents": documents, "citations": []}),
            0.0,
        ),
    ] {
        assert_eq!(precision(output.clone()).await, score(expected), "{output}");
        let any = expected > 0.0;
        assert_eq!(
            judged("CiteRate", SpecArguments::None, &case, output).await,
            Ok(vec![Outcome::assertion("cited", any)])
        );
    }
    for (output, reason) in [
        (json!("Paris [1]."), Missing::Citations.reason()),
        (
            json!({"answer": "I don't know.", "citations": []}),
            "refused",
        ),
        (json!({"refused": true}), "refused"),
    ] {
        assert_eq!(
            precision(output.clone()).await,
            Ok(vec![Outcome::undefined("citation AP", reason)])
        );
        assert_eq!(
            judged("CiteRate", SpecArguments::None, &case, output).await,
            Ok(vec![Outcome::undefined("cited", reason)])
        );
    }
}

#[tokio::test]
async fn refusals_are_right_for_unanswerable_questions() {
    let precision = |passed| Outcome::assertion("refusal precision", passed);
    let recall = |passed| Outcome::assertion("refusal recall", passed);
    let answered = || Outcome::undefined("refusal precision", "answered");
    let answerable = || Outcome::undefined("refusal recall", "answerable question");
    for (expected, metadata, output, outcomes) in [
        (
            json!("Paris"),
            json!(null),
            json!("I don't know."),
            [precision(false), answerable()],
        ),
        (
            json!("Paris"),
            json!(null),
            json!("Rome"),
            [answered(), answerable()],
        ),
        (
            json!("I don't know."),
            json!(null),
            json!("Rome"),
            [answered(), recall(false)],
        ),
        (
            json!({"answerable": false}),
            json!(null),
            json!({"refused": true}),
            [precision(true), recall(true)],
        ),
        (
            json!(null),
            json!({"answerable": false}),
            json!("Nope, sorry."),
            [precision(true), recall(true)],
        ),
        (
            json!("Paris"),
            json!(null),
            json!({"answer": "I don't know.", "refused": false}),
            [answered(), answerable()],
        ),
    ] {
        let case = case(expected, metadata);
        let arguments = positional(json!(["nope, sorry"]));
        let found = judged("Refusal", arguments, &case, output.clone()).await;
        assert_eq!(found, Ok(Vec::from(outcomes)), "{output}");
    }
    for (expected, output, reason) in [
        (
            json!(null),
            json!("Rome"),
            "not known whether the question is answerable",
        ),
        (json!("Paris"), json!(null), Missing::Answer.reason()),
        (json!("Paris"), json!(["a"]), Missing::Answer.reason()),
    ] {
        let names = ["refusal precision", "refusal recall"];
        let undefined = names.map(|name| Outcome::undefined(name, reason));
        let case = case(expected, Value::Null);
        let found = judged("Refusal", SpecArguments::None, &case, output).await;
        assert_eq!(found, Ok(Vec::from(undefined)));
    }
}

#[tokio::test]
async fn failures_concern_what_a_case_would_have_had() {
    let answerable = case(json!({"answer": "Paris", "relevant": ["b"]}), Value::Null);
    let unanswerable = case(json!({"answerable": false, "relevant": ["b"]}), Value::Null);
    for (name, of_answerable, of_unanswerable) in [
        (
            "CitationPrecision",
            vec![Concern::score("citation AP")],
            vec![],
        ),
        ("CiteRate", vec![Concern::assertion("cited")], vec![]),
        (
            "Refusal",
            vec![],
            vec![Concern::assertion("refusal recall")],
        ),
        (
            "Judge",
            vec![Concern::assertion("equivalent")],
            vec![Concern::assertion("equivalent")],
        ),
    ] {
        let evaluator = build(name, SpecArguments::None).unwrap();
        assert_eq!(
            evaluator.concerns(&answerable),
            Some(of_answerable),
            "{name}"
        );
        assert_eq!(
            evaluator.concerns(&unanswerable),
            Some(of_unanswerable),
            "{name}"
        );
    }
}
