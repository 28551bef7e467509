//! `annotations.jsonl`: the labels of a run, one on each line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use evals::RecordFile;
use serde::{Deserialize, Serialize};

use super::label::Label;
use crate::run_folder::RunFolder;
use crate::shared_file::SharedFile;

/// The name of the file in a run folder.
const NAME: &str = "annotations.jsonl";
/// Labels hold digests, so the file names no run.
const FILE: SharedFile = SharedFile {
    what: "labels",
    format: "annotations",
};

/// The labels of a run, in a file beside its journal.
///
/// Lines are only added. Each begins with a check of the rest of the line, as in the journal. A process locks the file while it adds labels, so
/// several may label one run. A process that is killed loses the line that it is writing, and nothing else.
#[derive(Debug, Clone)]
pub struct LabelFile {
    path: PathBuf,
}

/// The labels of a file, in the order in which they were given.
#[derive(Debug, Default)]
pub struct StoredLabels {
    /// The labels in the order of the file.
    pub labels: Vec<Label>,
    /// How many lines fail their check, not counting an incomplete last line.
    pub damaged: usize,
}

impl StoredLabels {
    /// How many labels there are without those that their labellers have replaced.
    pub fn current(&self) -> usize {
        let answers = self.labels.iter().map(|label| {
            let answer = (label.case.as_str(), label.repeat);
            (label.labeller.as_str(), answer, label.measure.as_deref())
        });
        answers.collect::<BTreeSet<_>>().len()
    }
}

/// A line with a label, to read.
#[derive(Deserialize)]
struct Line {
    label: Label,
}

/// A line with a label, to write.
#[derive(Serialize)]
struct NewLine<'l> {
    label: &'l Label,
}

impl LabelFile {
    /// The labels of a run.
    pub fn of(folder: &RunFolder) -> Self {
        Self::at(&folder.path().join(NAME))
    }

    /// The file at a path.
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// All labels. Takes no lock, so another process may be adding some.
    pub fn read(&self) -> Result<StoredLabels> {
        let mut labels = Vec::new();
        if !self.path.try_exists().is_ok_and(|exists| !exists) {
            let damaged = RecordFile::read(&self.path, |line: Line| labels.push(line.label))
                .map_err(|error| FILE.problem(error))?;
            return Ok(StoredLabels { labels, damaged });
        }
        Ok(StoredLabels { labels, damaged: 0 })
    }

    /// Adds the labels that `choose` makes of those in the file, and returns all of them. Other processes wait meanwhile, so
    /// that none of theirs is missed. Nothing is written if `choose` fails.
    pub fn add(&self, choose: impl FnOnce(&[Label]) -> Result<Vec<Label>>) -> Result<StoredLabels> {
        let mut labels = Vec::new();
        let file = FILE.locked(&self.path, |line: Line| labels.push(line.label))?;
        let new = choose(&labels)?;
        for label in &new {
            let line = NewLine { label };
            file.append(&line).map_err(|error| FILE.problem(error))?;
        }
        file.sync().map_err(|error| FILE.problem(error))?;
        labels.extend(new);
        Ok(StoredLabels {
            labels,
            damaged: file.damaged_lines(),
        })
    }
}
