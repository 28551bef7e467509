//! The facts of a page: what was run, on what, with which models, at which cost.

use std::collections::BTreeMap;

use anyhow::Result;
use evals::{Domain, Report, Summary, Unit};
use evals_html::page::{Fact, Texts};
use evals_messages::quantity;
use serde_json::Value;

use super::settings;
use super::source::PageSource;
use crate::case_selection::FILTER;

/// The facts of a run, from its report and, where it has one, its manifest. Without texts the filter is left out, because it holds
/// values of metadata.
pub(super) fn of_run<D: Domain>(
    report: &Report<D>,
    summary: &Summary,
    source: &PageSource,
) -> Result<Vec<Fact>> {
    let none = Value::Null;
    let manifest = source.manifest.as_ref().unwrap_or(&none);
    let mut facts = vec![fact("dataset", dataset(&report.dataset, manifest))];
    facts.push(fact("cases", cases(summary)));
    facts.extend(system(report, manifest));
    facts.extend(models(report, manifest));
    let lines = report.facts();
    let lines = lines.filter(|(name, _)| *name != FILTER || source.texts != Texts::Omitted);
    facts.extend(lines.map(|(name, value)| fact(name, value)));
    let changed = settings::changed(manifest)?.into_iter();
    // The address of a target is usually its name.
    let is_named = |address: &str| {
        let mut targets = facts.iter().filter(|it| it.name == "target");
        targets.any(|it| it.value == address)
    };
    let changed = changed.filter(|(name, value)| name != "target.address" || !is_named(value));
    let changed: Vec<Fact> = changed.map(|(name, value)| fact(&name, value)).collect();
    facts.extend(changed);
    let kept = if manifest["benchmark"] == "qa" {
        "passages"
    } else {
        "documents kept"
    };
    for (name, key) in [
        (kept, "k"),
        (FILTER, "filter"),
        ("concurrency", "concurrency"),
    ] {
        // Reports of earlier versions have no line of the filter.
        let has_line = report.facts().any(|(line, _)| line == name);
        if name == FILTER && (has_line || source.texts == Texts::Omitted) {
            continue;
        }
        facts.extend(shown(&manifest[key]).map(|value| fact(name, value)));
    }
    facts.push(fact("took", took(summary)));
    facts.extend(shown(&manifest["started"]).map(|value| fact("started", value)));
    facts.extend(shown(&manifest["tool"]["version"]).map(|value| fact("evaluations", value)));
    Ok(facts)
}

/// The profile or the target, unless a line of the report names it: a dataset file's line has the whole address of its target.
fn system<D: Domain>(report: &Report<D>, manifest: &Value) -> Option<Fact> {
    let profile = report.metadata.get("profile").and_then(Value::as_str)?;
    let name = if manifest["target"].is_null() {
        "profile"
    } else {
        "target"
    };
    let is_named = report.facts().any(|(line, _)| line == name);
    (!is_named).then(|| fact(name, profile))
}

/// A fact with its name.
pub(super) fn fact(name: &str, value: impl Into<String>) -> Fact {
    Fact {
        name: name.to_owned(),
        value: value.into(),
    }
}

/// The name of a dataset with the commits of its tables: `beir:scifact, mteb/scifact at 0a1b2c3d4e5f`. Files on disk have digests.
fn dataset(name: &str, manifest: &Value) -> String {
    let provenance = &manifest["dataset"]["provenance"];
    let mut sources: Vec<String> = Vec::new();
    for table in ["documents", "questions", "judgements"] {
        let source = source(&provenance[table]);
        sources.extend(source.filter(|source| !sources.contains(source)));
    }
    std::iter::once(name.to_owned())
        .chain(sources)
        .collect::<Vec<_>>()
        .join(", ")
}

fn source(table: &Value) -> Option<String> {
    const DIGITS: usize = 12;
    let short = |digest: &Value| {
        let digest = digest.as_str()?;
        Some(digest.get(..DIGITS).unwrap_or(digest).to_owned())
    };
    if let Some(repo) = table["repo"].as_str() {
        let commit = short(&table["commit"]).or_else(|| short(&table["revision"]))?;
        return Some(format!("{repo} at {commit}"));
    }
    let file = &table["files"][0];
    let digest = short(&file["sha256"])?;
    Some(format!("{} (sha256 {digest}…)", file["path"].as_str()?))
}

fn cases(summary: &Summary) -> String {
    if summary.repeat > 1 {
        format!(
            "{} (each case × {})",
            quantity::of(summary.finished, "run"),
            summary.repeat
        )
    } else {
        quantity::of(summary.finished, "case")
    }
}

/// The models by role that no line of the report names.
fn models<D: Domain>(report: &Report<D>, manifest: &Value) -> Vec<Fact> {
    let lines: Vec<&str> = report.facts().map(|(name, _)| name).collect();
    let named = BTreeMap::from([
        ("answerer", "answering"),
        ("judge", "judging"),
        ("reranker", "reranking"),
    ]);
    let models = manifest["models"].as_object().into_iter().flatten();
    let models = models.filter(|(role, _)| {
        let line = named.get(role.as_str());
        !line.is_some_and(|line| lines.contains(line))
    });
    models
        .filter_map(|(role, model)| {
            let (provider, name) = (model["provider"].as_str()?, model["name"].as_str()?);
            Some(fact(role, format!("{provider}:{name}")))
        })
        .collect()
}

fn took(summary: &Summary) -> String {
    let duration = Unit::Seconds.print(summary.duration.as_secs_f64());
    match summary.throughput() {
        Some(throughput) => format!("{duration}, {throughput:.1} per second"),
        None => duration,
    }
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
