//! The folder of a test set.
//!
//! | file | what it holds |
//! |---|---|
//! | `questions.jsonl` | an [`Item`] a line |
//! | `dropped.jsonl` | a [`Dropped`](crate::Dropped) a line |
//! | `record.json` | how the set was made |
//! | `dataset.yaml` | the manifest with which the set runs |
//! | `documents.jsonl` | the documents, if no manifest can name them |
//! | `review.jsonl` | a [`Review`] a line, in the order in which they were given |
//! | `history.jsonl` | an [`Update`] a line, for each time that the set was rewritten |
//!
//! A process holds a lock while it writes, and replaces each file as a whole, so that a process that is killed, or a full disk, leaves the old
//! file or the new one. A set is there once its questions are, which are written last.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use evals_guard::atomic_file::{WriteError, write_atomically};
use evals_guard::regular_file::{self, FileError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::Item;
use crate::check::{Check, Update};
use crate::review::{DefectRates, Review};

/// The largest file that is read: some 500,000 questions.
const MOST_BYTES: u64 = 512_000_000;

const REVIEW: &str = "review.jsonl";
const HISTORY: &str = "history.jsonl";

/// Why the folder of a set cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SetError {
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line is not what the file holds.
    #[error("`{}`, line {line}: {message}; mend the line, or delete it", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// Another process writes to the folder.
    #[error("another process is writing to `{}`; wait until it has ended, or stop it", folder.display())]
    Locked {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder cannot be made or locked.
    #[error("cannot lock `{}`", folder.display())]
    Lock {
        /// The folder.
        folder: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The questions are not those that an update was made for.
    #[error("the questions changed meanwhile; run the command again: replies of models are stored")]
    Changed,
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// The folder of a test set.
#[derive(Debug, Clone)]
pub struct SetFolder {
    path: PathBuf,
}

impl SetFolder {
    /// The questions.
    pub const QUESTIONS: &str = "questions.jsonl";
    /// The questions that were dropped.
    pub const DROPPED: &str = "dropped.jsonl";
    /// The record.
    pub const RECORD: &str = "record.json";
    /// The manifest.
    pub const MANIFEST: &str = "dataset.yaml";
    /// The documents.
    pub const DOCUMENTS: &str = "documents.jsonl";
    /// The file that is locked.
    pub const LOCK: &str = ".lock";

    /// The folder at `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder of a set whose questions are the file at `path`; `None` if no set calls its questions so.
    pub fn of_questions(path: &Path) -> Option<Self> {
        let is_questions = path.file_name().is_some_and(|name| name == Self::QUESTIONS);
        path.parent().filter(|_| is_questions).map(Self::new)
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the folder has a file of questions.
    pub fn has_questions(&self) -> bool {
        self.path.join(Self::QUESTIONS).is_file()
    }

    /// Whether people reviewed the set.
    pub fn is_reviewed(&self) -> bool {
        self.path.join(REVIEW).exists()
    }

    /// How many questions are defective, as far as people reviewed them; `None` if nobody reviewed a sample.
    pub fn defects(&self) -> Result<Option<DefectRates>, SetError> {
        Ok(DefectRates::of(&self.questions()?, &self.reviews()?))
    }

    /// The questions.
    ///
    /// # Errors
    ///
    /// There is no such file, or a line is broken, has no text, or repeats the id of an earlier one.
    pub fn questions(&self) -> Result<Vec<Item>, SetError> {
        let path = self.path.join(Self::QUESTIONS);
        let items: Vec<(usize, Item)> = read_lines(&path)?;
        let mut lines = HashMap::new();
        for (line, item) in &items {
            let (line, path) = (*line, path.clone());
            let message = if item.id.trim().is_empty() || item.question.trim().is_empty() {
                "`id` or `question` is empty".to_owned()
            } else if let Some(earlier) = lines.insert(&item.id, line) {
                format!("line {earlier} also has the id `{}`", item.id)
            } else {
                continue;
            };
            return Err(SetError::Line {
                path,
                line,
                message,
            });
        }
        Ok(items.into_iter().map(|(_, item)| item).collect())
    }

    /// The record of how the set was made; empty if the file does not exist.
    pub fn record(&self) -> Result<Value, SetError> {
        let path = self.path.join(Self::RECORD);
        if !path.exists() {
            return Ok(json!({}));
        }
        let text = regular_file::read_text(&path, MOST_BYTES)?;
        serde_json::from_str(&text).map_err(|error| SetError::Line {
            path,
            line: error.line(),
            message: error.to_string(),
        })
    }

    /// The reviews in the order of writing; none if the file does not exist.
    pub fn reviews(&self) -> Result<Vec<Review>, SetError> {
        self.lines(REVIEW)
    }

    /// The updates after documents changed, in order; none if the file does not exist.
    pub fn history(&self) -> Result<Vec<Update>, SetError> {
        self.lines(HISTORY)
    }

    fn lines<T: DeserializeOwned>(&self, name: &str) -> Result<Vec<T>, SetError> {
        let path = self.path.join(name);
        if !path.exists() {
            return Ok(Vec::new());
        }
        let lines = read_lines(&path)?.into_iter();
        Ok(lines.map(|(_, value)| value).collect())
    }

    /// Makes the folder unless it exists, and keeps other processes from writing to it until the lock is dropped.
    ///
    /// # Errors
    ///
    /// [`SetError::Locked`] if another process has the lock.
    pub fn lock(&self) -> Result<SetLock, SetError> {
        let folder = self.path.clone();
        let locked = fs::create_dir_all(&folder).and_then(|()| {
            let mut options = File::options();
            let options = options.create(true).truncate(false).write(true);
            let file = options.open(folder.join(Self::LOCK))?;
            file.try_lock()?;
            Ok(file)
        });
        match locked {
            Ok(file) => Ok(SetLock {
                folder: self.clone(),
                _file: file,
            }),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(SetError::Locked { folder })
            }
            Err(source) => Err(SetError::Lock { folder, source }),
        }
    }
}

/// The right to write to the folder of a set. The operating system takes it back when the process ends.
#[derive(Debug)]
pub struct SetLock {
    folder: SetFolder,
    _file: File,
}

impl SetLock {
    /// Replaces a file of the folder.
    pub fn write(&self, name: &str, text: &str) -> Result<(), SetError> {
        let path = self.folder.path.join(name);
        Ok(write_atomically(&path, |out| {
            out.write_all(text.as_bytes())
        })?)
    }

    /// Rewrites the questions as a [check](Check) of those `before` left them, and adds a line to the history, which keeps those that are stale.
    ///
    /// # Errors
    ///
    /// [`SetError::Changed`] if the questions are not those any more. What cannot be read or written.
    pub fn update(&self, before: &[Item], check: &Check, time: &str) -> Result<(), SetError> {
        if self.folder.questions()? != before {
            return Err(SetError::Changed);
        }
        let update = Update {
            time: time.to_owned(),
            from: digest(before),
            to: digest(&check.updated),
            moved: check.moved.clone(),
            stale: check.stale.clone(),
        };
        let mut history = self.folder.history()?;
        history.push(update);
        self.write(HISTORY, &lines_of(&history))?;
        self.write(SetFolder::QUESTIONS, &lines_of(&check.updated))?;
        self.note_defects()
    }

    /// Adds reviews.
    pub fn add_reviews(&self, reviews: impl IntoIterator<Item = Review>) -> Result<(), SetError> {
        let mut all = self.folder.reviews()?;
        all.extend(reviews);
        self.write(REVIEW, &lines_of(&all))?;
        self.note_defects()
    }

    /// Puts the rates of defects into the record.
    fn note_defects(&self) -> Result<(), SetError> {
        if !self.folder.is_reviewed() {
            return Ok(());
        }
        let mut record = self.folder.record()?;
        if let Some(members) = record.as_object_mut() {
            members.insert(DefectRates::KEY.to_owned(), json!(self.folder.defects()?));
        }
        self.write(SetFolder::RECORD, &format!("{record:#}\n"))
    }
}

/// The digest of a set: SHA-256 of its lines as they are written, in hexadecimal digits. Blank lines and the order of keys in a file do not
/// change it.
pub fn digest(questions: &[Item]) -> String {
    hex::encode(Sha256::digest(lines_of(questions)))
}

/// Values as JSON Lines.
pub fn lines_of<T: Serialize>(values: &[T]) -> String {
    let mut lines = String::new();
    for value in values {
        let line = serde_json::to_string(value);
        lines.push_str(&line.expect("a struct of texts and numbers is JSON"));
        lines.push('\n');
    }
    lines
}

/// The values of a file of JSON Lines, with the numbers of their lines.
fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<(usize, T)>, SetError> {
    let text = regular_file::read_text(path, MOST_BYTES)?;
    let lines = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    let lines = lines.filter(|(_, json)| !json.trim().is_empty());
    let values = lines.map(|(line, json)| match serde_json::from_str(json) {
        Ok(value) => Ok((line, value)),
        Err(error) => Err(SetError::Line {
            path: path.to_owned(),
            line,
            // serde_json names the line within this text, which is always 1.
            message: evals_messages::mismatch::in_json(&error.to_string())
                .replace(" at line 1 column ", " at column "),
        }),
    });
    values.collect()
}

#[cfg(test)]
mod tests;
