//! The manifest of an exported folder, with which it can be run as a dataset.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{ACCEPTED, ExportFormat};
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
    let mut questions = json!({
        "source": {"path": format!("questions.{extension}")},
        "id": "id", "text": "question", "answer": "answer", "relevant": "relevant",
    });
    if has_accepted {
        questions["answer"] = json!(["answer", format!("{ACCEPTED}[]")]);
    }
    let columns = &original.questions.columns;
    if columns.facts().next().is_some() {
        questions["messages"] = json!("messages");
    }
    if columns.conversation.is_some() {
        questions["conversation"] = json!("conversation");
    }
    if !columns.metadata.is_empty() {
        questions["metadata"] = json!(["metadata.*"]);
    }
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
    if !original.unanswerable.is_empty() {
        add("unanswerable", &json!({"answer": original.unanswerable}));
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
