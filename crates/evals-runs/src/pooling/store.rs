//! `judgements/DATASET.jsonl`: the judgements of a dataset's passages, one on each line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use evals::RecordFile;
use sha2::{Digest as _, Sha256};

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
/// Lines are only added, and each begins with a check of its rest, as in the journal. An incomplete last line, left by a process that was
/// killed, is ignored. A damaged line is an error, because every number depends on which judgements there are.
#[derive(Debug, Clone)]
pub struct JudgementFile {
    path: PathBuf,
}

/// A file of judgements that no other process adds to until this is dropped.
#[derive(Debug)]
pub struct OpenJudgements {
    /// The judgements before any were added.
    pub stored: Vec<Judgement>,
    file: RecordFile,
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

    /// Reads all judgements, oldest first. Without a file there are none. It takes no lock, so it may miss those that another process is adding.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a line is damaged.
    pub fn read(&self) -> Result<Vec<Judgement>> {
        let mut judgements = Vec::new();
        if self.path.try_exists().is_ok_and(|exists| !exists) {
            return Ok(judgements);
        }
        RecordFile::read_intact(&self.path, |judgement| judgements.push(judgement))
            .map_err(|error| FILE.problem(error))?;
        Ok(judgements)
    }

    /// Opens the file to add judgements. While it is open, other processes that want to add some wait for ten seconds and then fail, so that two
    /// do not ask a model for the same.
    ///
    /// # Errors
    ///
    /// The file cannot be written, another process keeps it locked, or a line of it is damaged.
    pub fn open(&self) -> Result<OpenJudgements> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
        }
        let mut stored = Vec::new();
        let file = FILE.locked(&self.path, |judgement| stored.push(judgement))?;
        if file.damaged_lines() > 0 {
            // Reading names the line.
            self.read()?;
        }
        Ok(OpenJudgements { stored, file })
    }
}

impl OpenJudgements {
    /// Adds a judgement at the end.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn add(&self, judgement: &Judgement) -> Result<()> {
        let added = self.file.append(judgement);
        added.map_err(|error| FILE.problem(error))
    }

    /// Adds the judgements of people that say something else than their last ones, and returns how many, once all are on the disk.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn add_changed(&self, given: &[Judgement]) -> Result<usize> {
        let stored = self.stored.iter();
        let said = stored.map(|it| ((&it.assessor, it.texts()), it.grade));
        let said: BTreeMap<_, u8> = said.collect();
        let is_new = |it: &&Judgement| said.get(&(&it.assessor, it.texts())) != Some(&it.grade);
        let mut added = 0;
        for judgement in given.iter().filter(is_new) {
            self.add(judgement)?;
            added += 1;
        }
        self.sync()?;
        Ok(added)
    }

    /// Waits until all judgements are on the disk.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn sync(&self) -> Result<()> {
        self.file.sync().map_err(|error| FILE.problem(error))
    }
}

/// The version of a pool's numbers, such as `120-1a2b3c4d`: the number of judgements up to the last one that counts for them, and a digest of those
/// that count. Nothing is ever rewritten, so the first 120 judgements give the same numbers for ever.
pub(super) fn version(stored: &[Judgement], pool: &Pool, judge: Option<&Assessor>) -> String {
    let texts = pool.pairs().map(|(it, pair)| (&*it.digest, &*pair.digest));
    let texts: BTreeSet<(&str, &str)> = texts.collect();
    let (mut hash, mut lines) = (Sha256::new(), 0);
    for (place, judgement) in stored.iter().enumerate() {
        let by = &judgement.assessor;
        let counts = matches!(by, Assessor::Person(_)) || Some(by) == judge;
        if counts && texts.contains(&judgement.texts()) {
            lines = place + 1;
            hash.update(serde_json::to_vec(judgement).expect("texts and numbers are JSON"));
        }
    }
    format!("{lines}-{}", &hex::encode(hash.finalize())[..8])
}
