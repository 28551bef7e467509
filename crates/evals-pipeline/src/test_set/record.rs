//! What a test set says about how it was made, and the manifest with which it runs.

use std::collections::BTreeMap;

use evals_data::{Collection, Manifest};
use evals_questions::{Diversity, GeneratedSet, Item, Kind, SetFolder, set_folder};
use evals_rag::Document;
use serde_json::{Value, json};

use super::{Models, Plan};
use crate::run_models::Prompts;

/// The record. It holds nothing that is different when the same command runs again, so that the same replies give the same bytes.
pub(super) fn record(
    plan: &Plan<'_>,
    collection: &Collection,
    models: &Models,
    set: &GeneratedSet,
    figures: &Diversity,
) -> Value {
    let prompts = plan.prompts.all().into_iter();
    let prompts = Prompts::digests(prompts.chain([&plan.equivalence]));
    let log = plan.log.as_ref().map(|(_, log)| log);
    let [writer, judge] = models;
    json!({
        "tool": concat!("evaluations ", env!("CARGO_PKG_VERSION")),
        "source": {
            "dataset": plan.manifest.name,
            "fingerprint": collection.provenance().documents_fingerprint(),
        },
        "log": log,
        "models": {"writer": writer.identity(), "judge": judge.identity()},
        "parameters": {"writer": writer.parameters(), "judge": judge.parameters()},
        "prompts": prompts,
        "seed": plan.arguments.seed,
        "count": plan.arguments.count,
        "settings": plan.resolved.settings.questions,
        "search": plan.profile.to_string(),
        "questions": {
            "kept": set.kept.len(),
            "dropped": set.dropped.len(),
            "digest": set_folder::digest(&set.kept),
        },
        "kinds": kinds(&set.kept),
        "dropped": set.dropped_by_reason(),
        "coverage": set.coverage,
        "diversity": figures,
    })
}

/// How many questions there are of each kind.
pub(super) fn kinds<'i>(items: impl IntoIterator<Item = &'i Item>) -> BTreeMap<Kind, usize> {
    let mut counts = BTreeMap::new();
    for item in items {
        *counts.entry(item.kind).or_default() += 1;
    }
    counts
}

/// The manifest of the set. `documents` is the section that names the documents of the source; `None` if they are copied.
pub(super) fn manifest(
    name: &str,
    source: &Manifest,
    documents: Option<Value>,
    set: &GeneratedSet,
) -> String {
    let copied = json!({
        "source": {"path": SetFolder::DOCUMENTS},
        "uri": "id", "title": "title", "text": "text", "metadata": ["metadata.*"],
    });
    let metadata: &[&str] = if set.kept.iter().any(|item| item.asker.is_some()) {
        &["kind", "asker"]
    } else {
        &["kind"]
    };
    let manifest = json!({
        "name": name,
        "description": format!("Questions about the documents of {}", source.name),
        "licence": source.licence,
        "homepage": source.homepage,
        "documents": documents.unwrap_or(copied),
        "questions": {
            "source": {"path": SetFolder::QUESTIONS},
            "id": "id", "text": "question", "answer": "answer", "relevant": "relevant",
            "evidence": "evidence", "nuggets": "nuggets", "metadata": metadata,
        },
        "unanswerable": {"answer": Item::UNANSWERABLE},
        // Questions about one document succeed and fail together.
        "cluster": "document",
        "settings": source.settings.to_value(),
    });
    let members = manifest.as_object().into_iter().flatten();
    let members = members.filter(|(_, value)| !value.is_null() && **value != json!({}));
    // Values are written as JSON, which YAML contains.
    let lines = members.map(|(key, value)| format!("{key}: {value}\n"));
    lines.collect()
}

/// The documents as JSON Lines.
pub(super) fn copied(corpus: &[Document]) -> String {
    let lines = corpus.iter().map(|document| {
        let Document {
            uri,
            title,
            text,
            metadata,
        } = document;
        format!(
            "{}\n",
            json!({"id": uri, "title": title, "text": text, "metadata": metadata})
        )
    });
    lines.collect()
}
