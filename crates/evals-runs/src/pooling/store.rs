//! `judgements/DATASET.jsonl`: the judgements of a dataset's passages, one on each line.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use evals::RecordFile;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::grades::{key, pair};
use super::judgement::{Assessor, Judgement};
use super::pool::Pool;
use crate::directories::{Directories, file_stem};
use crate::shared_file::SharedFile;

const FILE: SharedFile = SharedFile {
    what: "judgements",
    format: "judgements",
};

/// The judgements of a dataset, in a file of the user's data folder.
///
/// Lines are only added, and each begins with a check of its rest, as in the journal. A process locks the file while it adds judgements, so
/// several may judge at once. An incomplete last line, left by a process that was killed, is ignored. A damaged line is an
/// error, because every number depends on which judgements there are.
#[derive(Debug, Clone)]
pub struct JudgementFile {
    path: PathBuf,
}

/// Judgements in the order in which they were given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredJudgements(Vec<Judgement>);

/// Which judgements a number comes from. Nothing is ever rewritten, so the first lines of the file give the same number for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolVersion {
    /// The number of judgements up to the last one that counts.
    pub lines: usize,
    /// SHA-256 of those that count.
    pub digest: String,
}

#[derive(Deserialize)]
struct Line {
    judgement: Judgement,
}

#[derive(Serialize)]
struct NewLine<'j> {
    judgement: &'j Judgement,
}

impl JudgementFile {
    /// The judgements of a dataset.
    pub fn of(directories: &Directories, dataset: &str) -> Self {
        let name = format!("{}.jsonl", file_stem(dataset));
        Self::at(&directories.judgements().join(name))
    }

    /// The file at a path.
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All judgements; none if there is no file. Takes no lock, so another process may be adding some.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a line is damaged.
    pub fn read(&self) -> Result<StoredJudgements> {
        let mut judgements = Vec::new();
        if self.path.try_exists().is_ok_and(|exists| !exists) {
            return Ok(StoredJudgements(judgements));
        }
        RecordFile::read_intact(&self.path, |line: Line| judgements.push(line.judgement))
            .map_err(|error| FILE.problem(error))?;
        Ok(StoredJudgements(judgements))
    }

    /// Adds judgements at the end and waits until they are on the disk. It reads the file to check it, so add some hundred at a time; a
    /// process that is killed before asks no model again, because the replies are stored.
    ///
    /// # Errors
    ///
    /// The file cannot be written, another process keeps it locked, or a line of it is damaged.
    pub fn add(&self, judgements: &[Judgement]) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
        }
        let file = FILE.locked(&self.path, |_: IgnoredAny| ())?;
        if file.damaged_lines() > 0 {
            // Reading names the line.
            self.read()?;
        }
        for judgement in judgements {
            let line = NewLine { judgement };
            file_error(file.append(&line))?;
        }
        file_error(file.sync())
    }
}

fn file_error<T>(result: Result<T, evals::JournalError>) -> Result<T> {
    result.map_err(|error| FILE.problem(error))
}

impl StoredJudgements {
    /// Judgements that are in no file.
    pub fn of(judgements: Vec<Judgement>) -> Self {
        Self(judgements)
    }

    /// The judgements in the order in which they were given.
    pub fn all(&self) -> &[Judgement] {
        &self.0
    }

    /// The version of a pool's numbers: which of these judgements count for them. Others do not change it.
    pub(super) fn version(&self, pool: &Pool, judge: Option<&Assessor>) -> PoolVersion {
        let pairs: BTreeSet<_> = pool
            .pairs()
            .map(|(question, it)| key(question, it))
            .collect();
        let (mut hash, mut lines) = (Sha256::new(), 0);
        for (place, judgement) in self.0.iter().enumerate() {
            let assessor = &judgement.assessor;
            let counts = assessor.is_person() || Some(assessor) == judge;
            if counts && pairs.contains(&pair(judgement)) {
                lines = place + 1;
                hash.update(serde_json::to_vec(judgement).expect("texts and numbers are JSON"));
            }
        }
        PoolVersion {
            lines,
            digest: hex::encode(hash.finalize()),
        }
    }

    /// An earlier version: the first `lines` judgements.
    #[must_use]
    pub fn at(mut self, lines: usize) -> Self {
        self.0.truncate(lines);
        self
    }
}

impl fmt::Display for PoolVersion {
    /// Such as `120-1a2b3c4d`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = self.digest.get(..8).unwrap_or(&self.digest);
        write!(formatter, "{}-{digest}", self.lines)
    }
}
