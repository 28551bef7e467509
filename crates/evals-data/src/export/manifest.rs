//! The manifest of an exported folder, with which it can be run as a dataset.

use std::fmt::Write as _;

use evals_rag::Question;
use serde_json::{Value, json};

use super::{ACCEPTED, ExportFormat, UNANSWERABLE};
use crate::manifest::Manifest;

/// The manifest as YAML. Its values are written as JSON, which YAML contains.
pub(super) fn of(original: &Manifest, format: ExportFormat, has_accepted: bool) -> String {
    let extension = format.extension();
    let mut documents = json!({
        "source": {"path": format!("documents.{extension}")},
        "uri": "id", "title": "title", "text": "text",
    });
    if !original.documents.columns.metadata.is_empty() {
        documents["metadata"] = json!(["metadata.*"]);
    }
    let questions = questions_of(original, extension, has_accepted);
    let mut text = String::new();
    let mut add = |key: &str, value: &Value| {
        writeln!(text, "{key}: {value}").expect("a string takes any text");
    };
    add("name", &json!(original.name));
    if !original.description.is_empty() {
        add("description", &json!(original.description));
    }
    for (key, value) in [
        ("licence", &original.licence),
        ("homepage", &original.homepage),
    ] {
        if let Some(value) = value {
            add(key, &json!(value));
        }
    }
    add("documents", &documents);
    add("questions", &questions);
    let mut unanswerable = json!({});
    if !original.unanswerable.is_empty() {
        unanswerable["answer"] = json!(original.unanswerable);
    }
    if !original.questions.columns.unanswerable.is_empty() {
        unanswerable["where"] = json!({UNANSWERABLE: true});
    }
    if unanswerable != json!({}) {
        add("unanswerable", &unanswerable);
    }
    add("retrieval", &json!(original.retrieval));
    if let Some(key) = &original.cluster {
        add("cluster", &json!(key));
    }
    let settings = original.settings.to_value();
    if settings.as_object().is_some_and(|keys| !keys.is_empty()) {
        add("settings", &settings);
    }
    text
}

/// The section about the questions.
fn questions_of(original: &Manifest, extension: &str, has_accepted: bool) -> Value {
    let mut questions = json!({
        "source": {"path": format!("questions.{extension}")},
        "id": "id", "text": "question", "answer": "answer", "relevant": "relevant",
    });
    if has_accepted {
        questions["answer"] = json!(["answer", format!("{ACCEPTED}[]")]);
    }
    let columns = &original.questions.columns;
    if columns.facts().any(|fact| fact == Question::TURN) {
        questions["messages"] = json!("messages");
    }
    if columns.conversation.is_some() {
        questions["conversation"] = json!("conversation");
    }
    if columns.goal.is_some() {
        questions["goal"] = json!("question");
        questions["facts"] = json!("facts");
        questions["text"] = json!("first_message");
    }
    if !columns.metadata.is_empty() {
        questions["metadata"] = json!(["metadata.*"]);
    }
    questions
}
