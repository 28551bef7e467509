//! Replies that were made elsewhere, in a file.

mod cell;
mod csv_file;
mod json_lines;
mod replies;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::{fmt, io};

use async_trait::async_trait;
use evals::FailureClass;
use evals_guard::regular_file::FileError;
use evals_messages::quantity;
use serde_json::{Map, Value};
use thiserror::Error;

pub use replies::Outputs;

use crate::{Reply, Request, Target, TargetError, TargetIdentity, TargetSettings};

/// A row of a file of replies.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputRow {
    /// Where it is in the file, such as `line 3`.
    pub place: String,
    /// Its fields.
    pub fields: Map<String, Value>,
}

/// The problems that one message lists.
const LISTED: usize = 5;

/// Why a file of replies cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutputsError {
    /// The file cannot be opened.
    #[error(transparent)]
    Open(#[from] FileError),
    /// Reading the file failed.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file's name ends in none of the known formats.
    #[error("`{}` is not a file of replies; its name has to end in `.jsonl`, `.ndjson`, `.csv`, `.tsv` or `.parquet`", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// Rows are no replies.
    #[error("{}", list(path, problems))]
    Rows {
        /// The file.
        path: PathBuf,
        /// The mistakes in the order of the file; never empty.
        problems: Vec<RowProblem>,
    },
    /// The file is no TREC run.
    #[error("`{}`", path.display())]
    Trec {
        /// The file.
        path: PathBuf,
        /// The mistake, with its line.
        source: evals_metrics::trec::ParseError,
    },
}

/// Why a row is no reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowProblem {
    /// Where the row is, such as `line 3`.
    pub place: String,
    /// The mistake.
    pub what: String,
}

impl fmt::Display for RowProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.what)
    }
}

/// The first problems, each on a line of its own.
fn list(path: &std::path::Path, problems: &[RowProblem]) -> String {
    let path = path.display();
    if let [only] = problems {
        return format!("`{path}`, {only}");
    }
    let mut lines = vec![format!(
        "{} in `{path}`:",
        quantity::of(problems.len(), "problem")
    )];
    let listed = problems.iter().take(LISTED);
    lines.extend(listed.map(|problem| format!("  {problem}")));
    if let Some(more) = problems.len().checked_sub(LISTED).filter(|more| *more > 0) {
        lines.push(format!("  and {more} more"));
    }
    lines.join("\n")
}

/// A target whose replies were made elsewhere.
#[derive(Clone, Debug)]
pub struct OutputsTarget {
    identity: TargetIdentity,
    outputs: Outputs,
}

impl OutputsTarget {
    /// A target of these replies. The file's digest becomes part of its identity.
    pub fn new(mut identity: TargetIdentity, outputs: Outputs) -> Self {
        let digest = outputs.digest().into();
        identity.parameters.insert("sha256".to_owned(), digest);
        Self { identity, outputs }
    }

    /// The target of a section `target:` whose file was read: `kind` is `outputs` or `trec`.
    pub fn of(kind: &str, settings: &TargetSettings, outputs: Outputs) -> Self {
        let name = outputs.path().display().to_string();
        let identity = TargetIdentity {
            version: settings.version.clone(),
            parameters: settings.parameters(),
            ..TargetIdentity::new(kind, name)
        };
        Self::new(identity, outputs)
    }
}

#[async_trait]
impl Target for OutputsTarget {
    fn identity(&self) -> &TargetIdentity {
        &self.identity
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        let Request { id, repeat, .. } = request;
        let failed = |message: String| TargetError::new(FailureClass::Content, message);
        match self.outputs.reply(id, *repeat) {
            Some(Ok(reply)) => Ok(reply.clone()),
            Some(Err(message)) => Err(failed(message.clone())),
            None => {
                let path = self.outputs.path().display();
                let what = match repeat {
                    1 => format!("`{id}`"),
                    repeat => format!("repetition {repeat} of `{id}`"),
                };
                Err(failed(format!("`{path}` has no reply to {what}")))
            }
        }
    }

    fn warnings(&self, cases: &BTreeSet<&str>) -> Vec<String> {
        let path = self.outputs.path().display();
        let unknown = self.outputs.unknown(cases);
        let missing: Vec<&str> = cases
            .iter()
            .copied()
            .filter(|id| self.outputs.reply(id, 1).is_none())
            .collect();
        let mut warnings = Vec::new();
        if !unknown.is_empty() {
            let all = self.outputs.ids().len();
            warnings.push(format!(
                "`{path}`: {} of {all} ids are none of this run's cases and are not used: {}",
                unknown.len(),
                listed(&unknown)
            ));
        }
        if !missing.is_empty() {
            warnings.push(format!(
                "`{path}` has no reply to {} of {} cases, which count as failed: {}",
                missing.len(),
                cases.len(),
                listed(&missing)
            ));
        }
        warnings
    }
}

fn listed(ids: &[&str]) -> String {
    let shown = ids.iter().take(LISTED).map(|id| format!("`{id}`"));
    let mut shown: Vec<String> = shown.collect();
    if ids.len() > LISTED {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}
