//! Tests of pools of small runs.

mod forming;
mod numbers;
mod spreadsheet;
mod storage;

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use evals_metrics::Bootstrap;
use evals_models::ModelIdentity;
use evals_rag::Document;
use serde_json::{Value, json};

use super::*;

const TIME: &str = "2026-05-01T12:00:00.000Z";

fn bootstrap() -> Bootstrap {
    Bootstrap {
        resamples: NonZeroU32::new(200).unwrap(),
        ..Bootstrap::default()
    }
}

/// A case of a question that ranks the documents in this order.
fn case(question: &str, documents: &[&str]) -> Value {
    let scores = (1..=documents.len()).rev();
    let ranking = documents.iter().zip(scores);
    let ranking: Vec<Value> = ranking
        .map(|(id, score)| json!({"id": id, "score": score}))
        .collect();
    json!({
        "id": question, "repeat": 1, "input": format!("text of {question}"),
        "expected": null, "metadata": {"answerable": true},
        "result": {"output": {"ranking": ranking}},
        "outcomes": [], "evaluator_failures": [], "seconds": 0.0, "timings": [], "metrics": {}, "attributes": {},
    })
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the cases of a report are made for it alone"
)]
fn run(name: &str, cases: Vec<Value>) -> PooledRun {
    let report = json!({
        "schema_version": 1, "name": name, "dataset": "set", "repeat": 1, "interrupted": false, "not_run": 0,
        "seconds": 0.0, "metadata": {}, "cases": cases,
    });
    PooledRun {
        name: name.to_owned(),
        report: Arc::new(serde_json::from_value(report).unwrap()),
        models: BTreeMap::new(),
    }
}

/// The documents of these ids, each with its own text.
fn corpus<'d>(ids: impl IntoIterator<Item = &'d str>) -> BTreeMap<String, Document> {
    let documents = ids.into_iter().map(|id| {
        let document = Document {
            uri: id.to_owned(),
            title: Some(format!("Title of {id}")),
            text: format!("text of {id}"),
            metadata: serde_json::Map::new(),
        };
        (id.to_owned(), document)
    });
    documents.collect()
}

fn depth(depth: usize) -> NonZeroUsize {
    NonZeroUsize::new(depth).unwrap()
}

fn pool(runs: &[PooledRun]) -> Pool {
    let documents = corpus(pooled_documents(runs, depth(3)));
    Pool::of(runs, depth(3), &documents).unwrap()
}

fn model() -> Assessor {
    Assessor::Model {
        identity: ModelIdentity::new("test", "scripted"),
        prompt: "p".to_owned(),
    }
}

fn ann() -> Assessor {
    Assessor::Person("Ann".to_owned())
}

/// The judgements of all pairs by an assessor whose grade follows from question and document.
fn judged(
    pool: &Pool,
    assessor: &Assessor,
    grade: impl Fn(&str, &str) -> Option<u8>,
) -> Vec<Judgement> {
    let pairs = pool.pairs().filter_map(|(question, pair)| {
        let grade = grade(&question.id, &pair.document)?;
        Some(Judgement {
            time: TIME.to_owned(),
            ..question.judgement(pair, assessor.clone(), grade)
        })
    });
    pairs.collect()
}

/// Three runs over six questions with documents of their own: one is right, one is reversed, and one found other documents.
fn runs() -> Vec<PooledRun> {
    let of = |name: &str, order: [&str; 3]| {
        let cases = (1..=6).map(|number| {
            let documents = order.map(|letter| format!("q{number}-{letter}"));
            case(
                &format!("q{number}"),
                &documents.each_ref().map(String::as_str),
            )
        });
        run(name, cases.collect())
    };
    vec![
        of("right", ["a", "b", "c"]),
        of("reversed", ["c", "b", "a"]),
        of("other", ["d", "c", "b"]),
    ]
}

/// Grade 3 for the documents a, 2 for b and less for the others; of odd questions c has 1.
#[expect(
    clippy::unnecessary_wraps,
    reason = "an assessor need not grade every document"
)]
fn right(question: &str, document: &str) -> Option<u8> {
    let is_odd = matches!(question, "q1" | "q3" | "q5");
    Some(match &document[3..] {
        "a" => 3,
        "b" => 2,
        "c" => u8::from(is_odd),
        _ => 0,
    })
}
