//! What a test set says about how it was made, and the manifest with which it runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use evals_data::{Collection, Manifest};
use evals_models::Usage;
use evals_questions::{
    Corpus, Diversity, GeneratedSet, Item, Kind, SetFolder, diversity, set_folder,
};
use evals_rag::{Call, Prompt};
use serde_json::{Value, json};

use super::{Models, Plan};
use crate::run_models::Prompts;

const TEXT: &str = "a string takes any text";

/// The record. It holds nothing that is different when the same command runs again, so that the same replies give the same bytes.
pub(super) fn record(
    plan: &Plan<'_>,
    collection: &Collection,
    models: &Models,
    set: &GeneratedSet,
    figures: &Diversity,
) -> Value {
    let prompts: Vec<&Prompt> = plan
        .prompts
        .all()
        .into_iter()
        .chain([&plan.equivalence])
        .collect();
    let log = plan.log.as_ref();
    let log = log.map(|log| json!({"file": log.file, "sha256": log.digest}));
    let (writer, judge) = (&models.writer, &models.judge);
    json!({
        "tool": concat!("evaluations ", env!("CARGO_PKG_VERSION")),
        "source": {
            "dataset": plan.manifest.name,
            "fingerprint": collection.provenance().documents_fingerprint(),
        },
        "log": log,
        "models": {"writer": writer.identity(), "judge": judge.identity()},
        "parameters": {"writer": writer.parameters(), "judge": judge.parameters()},
        "prompts": Prompts::digests(prompts),
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
        "calls": {"writer": calls(&set.written), "judge": calls(&set.judged)},
        "coverage": set.coverage,
        "diversity": {
            "set": figures,
            "people": [
                {"dataset": "RepliQA", "source": "ServiceNow/repliqa at bc880adc948f", "figures": diversity::repliqa()},
                {"dataset": "WixQA", "source": "Wix/WixQA at d662dc42479c", "figures": diversity::wixqa()},
            ],
        },
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

/// What calls read and wrote, from the cache or not.
pub(super) fn usage(calls: &[Call]) -> Usage {
    let mut sum = Usage::default();
    for usage in calls.iter().filter_map(|call| call.usage) {
        sum.input_tokens += usage.input_tokens;
        sum.output_tokens += usage.output_tokens;
    }
    sum
}

fn calls(calls: &[Call]) -> Value {
    let usage = usage(calls);
    json!({
        "calls": calls.len(),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    })
}

/// The manifest of the set. `documents` is the section that names the documents of the source; `None` if they are copied.
pub(super) fn manifest(
    name: &str,
    source: &Manifest,
    documents: Option<Value>,
    set: &GeneratedSet,
) -> String {
    let copied = || {
        json!({
            "source": {"path": SetFolder::DOCUMENTS},
            "uri": "id", "title": "title", "text": "text", "metadata": ["metadata.*"],
        })
    };
    let metadata = if set.kept.iter().any(|item| item.asker.is_some()) {
        json!(["kind", "asker"])
    } else {
        json!(["kind"])
    };
    let questions = json!({
        "source": {"path": SetFolder::QUESTIONS},
        "id": "id", "text": "question", "answer": "answer", "relevant": "relevant",
        "evidence": "evidence", "metadata": metadata,
    });
    let mut text = String::new();
    // Values are written as JSON, which YAML contains.
    let mut add = |key: &str, value: &Value| writeln!(text, "{key}: {value}").expect(TEXT);
    add("name", &json!(name));
    let description = format!("Questions about the documents of {}", source.name);
    add("description", &json!(description));
    for (key, value) in [("licence", &source.licence), ("homepage", &source.homepage)] {
        if let Some(value) = value {
            add(key, &json!(value));
        }
    }
    add("documents", &documents.unwrap_or_else(copied));
    add("questions", &questions);
    add("unanswerable", &json!({"answer": Item::UNANSWERABLE}));
    let settings = source.settings.to_value();
    if settings.as_object().is_some_and(|keys| !keys.is_empty()) {
        add("settings", &settings);
    }
    text
}

/// The documents as JSON Lines.
pub(super) fn copied(corpus: &dyn Corpus) -> Result<String> {
    let mut lines = String::new();
    corpus.read(&mut |document| {
        let line = json!({
            "id": document.uri, "title": document.title, "text": document.text, "metadata": document.metadata,
        });
        writeln!(lines, "{line}").expect(TEXT);
    })?;
    Ok(lines)
}
