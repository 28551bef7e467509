//! The numbers of a stored run, its settings, and the identity of its data and judge.

use anyhow::{Result, bail};
use evals::{Identity, Snapshot};
use serde_json::{Map, Value};

use super::configuration::Configuration;
use super::run::StoredRun;
use crate::judged_by::JudgeRecords;
use crate::run_folder::RunState;

/// Digits of a digest that a baseline keeps, as a message can print.
const DIGITS: usize = 16;

/// Refuses a run that still changes or is not complete: verdicts on it would not be those of the whole run.
pub(crate) fn finished(run: &StoredRun) -> Result<()> {
    match run.state() {
        RunState::Finished(_) | RunState::Failed(_) => Ok(()),
        RunState::Running => bail!("run `{}` is still running; {}", run.name(), run.remedy()),
        state @ (RunState::Unfinished(_) | RunState::Unreadable) => {
            bail!("run `{}` is {state}; {}", run.name(), run.remedy())
        }
    }
}

/// The numbers of a stored run, with the identity of its data and of its judge, and its cost.
pub(crate) fn snapshot(run: &StoredRun) -> Result<Snapshot> {
    let report = run.report()?;
    let manifest = run.manifest()?;
    let facts = manifest.as_ref().unwrap_or(&Value::Null);
    let metadata = report.metadata();
    let snapshot = report
        .snapshot(&run.name(), run.header.seed)
        .identified(Identity {
            dataset: dataset(facts),
            judge: JudgeRecords::identity(metadata)?,
        });
    Ok(match metadata.get("costs") {
        Some(costs) => {
            let cost = costs.get("total").or_else(|| costs.get("cost"));
            snapshot.costing(cost.and_then(Value::as_f64))
        }
        None => snapshot,
    })
}

/// The settings that a run's figures depend on, by dotted path, without the digests of the dataset. Empty for a report without its manifest.
pub(crate) fn settings(run: &StoredRun) -> Result<Map<String, Value>> {
    let manifest = run.manifest()?;
    let configuration = |manifest: &Value| Configuration::of(manifest).without_data();
    let values = manifest.as_ref().map(configuration);
    let values = values.iter().flat_map(Configuration::values);
    Ok(values
        .map(|(path, value)| (path.to_owned(), value.into()))
        .collect())
}

/// The files of the dataset with their digests, and how they are read.
fn dataset(manifest: &Value) -> Value {
    match &manifest["dataset"]["provenance"] {
        Value::Null => Value::Null,
        provenance => shortened(provenance),
    }
}

/// Files by path with the start of their digest, so that a difference names the file. Names of repositories and revisions are left out: the
/// same bytes are the same data.
fn shortened(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members
                .iter()
                .filter(|(name, _)| !["repo", "revision", "commit"].contains(&name.as_str()));
            Value::Object(
                members
                    .map(|(name, value)| (name.clone(), shortened(value)))
                    .collect(),
            )
        }
        Value::Array(items) if items.iter().all(|item| item["sha256"].is_string()) => {
            let files = items.iter().map(|file| {
                let path = file["path"].as_str().unwrap_or("file").to_owned();
                (path, start(&file["sha256"]).into())
            });
            Value::Object(files.collect())
        }
        other => other.clone(),
    }
}

fn start(digest: &Value) -> String {
    let digest = digest.as_str().unwrap_or_default();
    digest.chars().take(DIGITS).collect()
}
