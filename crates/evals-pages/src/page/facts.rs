//! The facts of a page: what was run, on what, with which models, at which cost.

use std::collections::BTreeMap;

use anyhow::Result;
use evals::{Domain, Report, Summary, Unit};
use evals_html::page::{Fact, Texts};
use evals_messages::quantity;
use evals_runs::run_record::{Benchmark, FILTER, RecordedSettings, RunRecord};
use evals_settings::Settings;
use serde::Deserialize;
use serde_json::Value;

use super::source::PageSource;

/// The facts of a run, from its report and, where it has one, its manifest. Without texts the filter is left out, because it holds
/// values of metadata.
pub(super) fn of_run<D: Domain>(
    report: &Report<D>,
    summary: &Summary,
    source: &PageSource,
) -> Result<Vec<Fact>> {
    let record = source.record.as_deref();
    let mut facts = vec![fact("dataset", report.dataset.as_str())];
    let read = sources(record);
    facts.extend((!read.is_empty()).then(|| fact("data", read.join(", "))));
    facts.push(fact("cases", cases(summary)));
    facts.extend(system(report, record));
    facts.extend(record.into_iter().flat_map(|it| models(report, it)));
    let lines = report.facts();
    let lines = lines.filter(|(name, _)| *name != FILTER || source.texts != Texts::Omitted);
    facts.extend(lines.map(|(name, value)| fact(name, value)));
    let changed = record
        .map(|it| changed_settings(&it.settings))
        .transpose()?;
    let changed = changed.into_iter().flatten();
    // The address of a target is usually its name.
    let is_named = |address: &str| {
        let mut targets = facts.iter().filter(|it| it.name == "target");
        targets.any(|it| it.value == address)
    };
    let changed = changed.filter(|(name, value)| name != "target.address" || !is_named(value));
    let changed: Vec<Fact> = changed.map(|(name, value)| fact(&name, value)).collect();
    facts.extend(changed);
    if let Some(measured) = record.and_then(|it| it.measured.as_ref()) {
        let kept = match record.map(|it| it.benchmark) {
            Some(Benchmark::Qa) => "passages",
            _ => "documents kept",
        };
        facts.push(fact(kept, measured.k.to_string()));
        // Reports of earlier versions have no line of the filter.
        let has_line = report.facts().any(|(line, _)| line == FILTER);
        let filter = measured.filter.as_deref();
        let filter = filter.filter(|_| !has_line && source.texts != Texts::Omitted);
        facts.extend(filter.map(|filter| fact(FILTER, filter)));
    }
    facts.extend(record.map(|it| fact("concurrency", it.concurrency.to_string())));
    facts.push(fact("took", took(summary)));
    let started = record.and_then(|it| it.started.as_deref());
    let minutes = |time: &str| {
        time.get(..16)
            .map(|it| format!("{} UTC", it.replace('T', " ")))
    };
    facts.extend(started.and_then(minutes).map(|time| fact("started", time)));
    let tool = record.and_then(|it| it.tool.as_ref());
    facts.extend(tool.map(|tool| fact("evaluations", tool.version.as_str())));
    Ok(facts)
}

/// The facts that readers look for, and the others.
const FIRST: [&str; 9] = [
    "dataset",
    "profile",
    "target",
    "answering",
    "judging",
    "reranking",
    "cases in common",
    "took",
    "started",
];

/// Divides facts into those for the first line of a page and those that it folds.
pub(super) fn divided(facts: Vec<Fact>) -> (Vec<Fact>, Vec<Fact>) {
    let is_first = |fact: &Fact| FIRST.contains(&fact.name.as_str());
    facts.into_iter().partition(is_first)
}

/// The profile or the target, unless a line of the report names it: a dataset file's line has the whole address of its target.
fn system<D: Domain>(report: &Report<D>, record: Option<&RunRecord>) -> Option<Fact> {
    let profile = report.metadata.get("profile").and_then(Value::as_str)?;
    let name = match record.and_then(RunRecord::target) {
        None => "profile",
        Some(_) => "target",
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

/// What a record says about the tables of a dataset, so far as a page shows it.
#[derive(Deserialize)]
struct Tables {
    documents: TableSource,
    questions: TableSource,
    judgements: Option<TableSource>,
}

#[derive(Deserialize)]
struct TableSource {
    repo: Option<String>,
    revision: Option<String>,
    commit: Option<String>,
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    path: String,
    sha256: String,
}

/// The tables of a dataset with their commits: `mteb/scifact at 0a1b2c3d4e5f`. Files on disk have digests.
fn sources(record: Option<&RunRecord>) -> Vec<String> {
    // A dataset file has one digest.
    let tables = record.and_then(|it| Tables::deserialize(&it.dataset.provenance).ok());
    let tables = tables.into_iter().flat_map(|it| {
        let judgements = it.judgements.into_iter();
        [it.documents, it.questions].into_iter().chain(judgements)
    });
    let mut sources: Vec<String> = Vec::new();
    for table in tables {
        let source = source(&table);
        sources.extend(source.filter(|source| !sources.contains(source)));
    }
    sources
}

fn source(table: &TableSource) -> Option<String> {
    const DIGITS: usize = 12;
    let short = |digest: &str| digest.get(..DIGITS).unwrap_or(digest).to_owned();
    if let Some(repo) = &table.repo {
        let commit = short(table.commit.as_ref().or(table.revision.as_ref())?);
        return Some(format!("{repo} at {commit}"));
    }
    let file = table.files.first()?;
    Some(format!("{} (sha256 {}…)", file.path, short(&file.sha256)))
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
fn models<D: Domain>(report: &Report<D>, record: &RunRecord) -> Vec<Fact> {
    let lines: Vec<&str> = report.facts().map(|(name, _)| name).collect();
    let named = BTreeMap::from([
        ("answerer", "answering"),
        ("judge", "judging"),
        ("reranker", "reranking"),
        ("rewriter", "rewriting"),
        ("user", "user"),
    ]);
    let models = record.models.iter().filter(|(role, _)| {
        let line = named.get(role.as_str());
        !line.is_some_and(|line| lines.contains(line))
    });
    models
        .map(|(role, model)| fact(role, model.to_string()))
        .collect()
}

fn took(summary: &Summary) -> String {
    let duration = Unit::Seconds.print(summary.duration.as_secs_f64());
    match summary.throughput() {
        Some(throughput) => format!("{duration}, {throughput:.1} per second"),
        None => duration,
    }
}

/// Each setting of a run that differs from its default, with its value: `("search.limit", "10, by default 5")`.
fn changed_settings(settings: &RecordedSettings) -> Result<Vec<(String, String)>> {
    let defaults = RecordedSettings::of(&Settings::default())?.flat();
    let changed = settings.flat().into_iter().filter_map(|(path, value)| {
        let default = defaults.get(&path);
        if default == Some(&value) {
            return None;
        }
        let shown = match default {
            Some(default) => format!("{value}, by default {default}"),
            None => value,
        };
        Some((path, shown))
    });
    Ok(changed.collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_from_the_defaults_is_listed() {
        let mut settings = serde_json::to_value(Settings::default()).unwrap();
        let listed = |settings: &serde_json::Value| {
            changed_settings(&RecordedSettings::of(settings).unwrap()).unwrap()
        };
        assert_eq!(listed(&settings), []);
        settings["search"]["limit"] = json!(10);
        settings["prices"]["gpt"] = json!({"input": 2.5});
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            listed(&settings),
            [
                pair("prices.gpt.input", "2.5"),
                pair("search.limit", "10, by default 5")
            ]
        );
    }
}
