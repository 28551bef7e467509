//! A test set of five questions with its documents.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

const MANIFEST: &str = "name: ferries
documents: {source: {path: documents.jsonl}, uri: id, text: text}
questions: {source: {path: questions.jsonl}, id: id, text: question, answer: answer, relevant: relevant, evidence: evidence}
";

/// Writes the set into the folder `set`, which it returns. The document `long` has 5 MB, and `gone` is not there.
pub(crate) fn write(sandbox: &Sandbox) -> PathBuf {
    let filler = "No ferry is named here. ".repeat(104_000);
    let documents = [
        (
            "short",
            "The ferry Stormwick carries 450 passengers. It sails at nine.".to_owned(),
        ),
        (
            "long",
            format!("{filler}The ferry Åse carries 90 passengers. {filler}"),
        ),
    ];
    let documents = documents.map(|(id, text)| json!({"id": id, "text": text}));
    sandbox.write("set/documents.jsonl", lines(&documents));
    let span = |document: &str, quote: &str| json!({"document": document, "quote": quote});
    let question = |id: &str, kind: &str, answer: Value, evidence: Vec<Value>| {
        let relevant: Vec<&Value> = evidence.iter().map(|span| &span["document"]).collect();
        json!({"id": id, "question": format!("What about {id}?"), "answer": answer, "kind": kind, "relevant": relevant, "evidence": evidence})
    };
    let of_short = span("short", "carries 450  Passengers");
    let of_long = span("long", "Åse carries 90 passengers");
    let questions = [
        question("q1", "single_fact", json!("450"), vec![of_short.clone()]),
        question(
            "q2",
            "comparison",
            json!("Stormwick"),
            vec![of_short, of_long],
        ),
        question("q3", "unanswerable", Value::Null, Vec::new()),
        question(
            "q4",
            "number",
            json!("ten"),
            vec![span("short", "It sails at ten.")],
        ),
        question(
            "q5",
            "number",
            json!("one"),
            vec![span("gone", "One ferry")],
        ),
    ];
    sandbox.write("set/questions.jsonl", lines(&questions));
    let manifest = sandbox.write("set/dataset.yaml", MANIFEST);
    manifest.parent().unwrap().to_owned()
}

/// The reviews of a set.
pub(crate) fn reviews(sandbox: &Sandbox) -> Vec<Value> {
    let path = sandbox.work().join("set/review.jsonl");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

pub(crate) fn lines(values: &[Value]) -> String {
    let lines = values.iter().map(ToString::to_string);
    lines.collect::<Vec<_>>().join("\n") + "\n"
}
