//! The numbers of a stored run, its settings, and the identity of its data and judge.

use anyhow::{Result, bail};
use evals::{Identity, Snapshot};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::run::StoredRun;
use crate::judged_by::JudgeRecords;
use crate::run_folder::RunState;
use crate::run_record::Configuration;

/// Digits of a digest that a baseline keeps, as a message can print.
const DIGITS: usize = 16;

/// Refuses a run that still changes or is not complete: verdicts on it would not be those of the whole run.
pub fn finished(run: &StoredRun) -> Result<()> {
    match run.state() {
        RunState::Finished(_) | RunState::Failed(_) => Ok(()),
        RunState::Running => bail!("run `{}` is still running; {}", run.name(), run.remedy()),
        state @ (RunState::Unfinished(_) | RunState::Unreadable) => {
            bail!("run `{}` is {state}; {}", run.name(), run.remedy())
        }
    }
}

/// The numbers of a stored run, with the identity of its data and of its judge, and its cost.
pub fn snapshot(run: &StoredRun) -> Result<Snapshot> {
    let report = run.report()?;
    let metadata = report.metadata();
    let snapshot = report
        .snapshot(&run.name(), run.record.seed)
        .identified(Identity {
            dataset: shortened(&run.record.dataset.provenance),
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
pub fn settings(run: &StoredRun) -> Map<String, Value> {
    let configuration = run.manifest().map(|_| run.configuration().without_data());
    let values = configuration.iter().flat_map(Configuration::values);
    values
        .map(|(path, value)| (path.to_owned(), value.into()))
        .collect()
}

/// A file of a dataset.
#[derive(Deserialize)]
struct DatasetFileDigest {
    path: String,
    sha256: String,
}

/// How the files of a dataset are read, and the files by path with the start of their digest, so that a difference names the file. Names of
/// repositories and revisions are left out: the same bytes are the same data.
fn shortened(provenance: &Value) -> Value {
    match provenance {
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
        Value::Array(_) => match Vec::<DatasetFileDigest>::deserialize(provenance) {
            Ok(files) => {
                let start = |digest: String| digest.chars().take(DIGITS).collect::<String>();
                let files = files.into_iter();
                Value::Object(files.map(|it| (it.path, start(it.sha256).into())).collect())
            }
            Err(_) => provenance.clone(),
        },
        other => other.clone(),
    }
}
