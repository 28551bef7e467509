//! The folder of a test set.
//!
//! | file | what it holds |
//! |---|---|
//! | `questions.jsonl` | an [`Item`] a line |
//! | `dropped.jsonl` | a [`Dropped`] a line |
//! | `record.json` | how the set was made |
//! | `dataset.yaml` | the manifest with which the set runs |
//! | `documents.jsonl` | the documents, if no manifest can name them |
//! | `review.jsonl` | a [`Review`] a line; only ever appended to |
//! | `history.jsonl` | an [`Update`] a line, for each time that `check` rewrote the set |
//!
//! Files are written beside the old ones and renamed together, so that a process that is killed, or a full disk, leaves the old set or the new
//! one.

use std::collections::HashMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use evals_guard::regular_file::{self, FileError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::check::{Check, Update};
use crate::review::{DefectRates, DrawnSample, Review};
use crate::{Dropped, Item};

/// The largest file that is read: some 500,000 questions.
const MOST_BYTES: u64 = 512_000_000;

const QUESTIONS: &str = "questions.jsonl";
const DROPPED: &str = "dropped.jsonl";
const RECORD: &str = "record.json";
const REVIEW: &str = "review.jsonl";
const HISTORY: &str = "history.jsonl";
/// There while renames are under way: all files behind them are complete.
const COMMIT: &str = ".commit";
const PARTIAL: &str = ".partial";

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
    /// The file is not JSON.
    #[error("`{}` is not JSON", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// Another process writes to the folder.
    #[error("another process is writing to `{}`; wait until it has ended, or stop it", folder.display())]
    Locked {
        /// The folder.
        folder: PathBuf,
    },
    /// The operating system refused to write. What was there before is unchanged.
    #[error("cannot write `{}`; the set is as it was before", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The operating system refused to put a complete file in its place.
    #[error("cannot put `{}` in its place; it is complete, and the next command that writes to the folder tries again", path.display())]
    Unfinished {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// The folder of a test set.
#[derive(Debug, Clone)]
pub struct SetFolder {
    path: PathBuf,
}

impl SetFolder {
    /// The manifest.
    pub const MANIFEST: &str = "dataset.yaml";
    /// The documents.
    pub const DOCUMENTS: &str = "documents.jsonl";
    /// The questions.
    pub const QUESTIONS: &str = QUESTIONS;

    /// The folder at `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder of a set whose questions are the file at `path`; `None` if no set calls its questions so.
    pub fn of_questions(path: &Path) -> Option<Self> {
        let is_questions = path.file_name().is_some_and(|name| name == QUESTIONS);
        path.parent().filter(|_| is_questions).map(Self::new)
    }

    /// Whether people reviewed the set.
    pub fn is_reviewed(&self) -> bool {
        self.path.join(REVIEW).exists()
    }

    /// How many questions are defective, as far as people reviewed them; `None` if nobody reviewed a sample.
    pub fn defects(&self) -> Result<Option<DefectRates>, SetError> {
        Ok(DefectRates::of(&self.questions()?, &self.reviews()?))
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the folder has a file of questions.
    pub fn has_questions(&self) -> bool {
        self.path.join(QUESTIONS).is_file()
    }

    /// The questions.
    ///
    /// # Errors
    ///
    /// There is no such file, or a line is broken, has no text, or repeats the id of an earlier one.
    pub fn questions(&self) -> Result<Vec<Item>, SetError> {
        let path = self.path.join(QUESTIONS);
        let items: Vec<(usize, Item)> = read_lines(&path)?;
        let mut lines = HashMap::new();
        for (line, item) in &items {
            let faulty = |message| SetError::Line {
                path: path.clone(),
                line: *line,
                message,
            };
            if item.id.trim().is_empty() || item.question.trim().is_empty() {
                return Err(faulty("`id` or `question` is empty".to_owned()));
            }
            if let Some(earlier) = lines.insert(item.id.as_str(), *line) {
                let id = &item.id;
                return Err(faulty(format!("line {earlier} also has the id `{id}`")));
            }
        }
        drop(lines);
        Ok(items.into_iter().map(|(_, item)| item).collect())
    }

    /// The record of how the set was made; `None` if the file does not exist.
    pub fn record(&self) -> Result<Option<Value>, SetError> {
        let path = self.path.join(RECORD);
        if !path.exists() {
            return Ok(None);
        }
        let text = regular_file::read_text(&path, MOST_BYTES)?;
        let record = serde_json::from_str(&text);
        record
            .map(Some)
            .map_err(|source| SetError::Json { path, source })
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

    /// Makes the folder unless it exists, and keeps other processes from writing to it until the lock is dropped. Completes what a killed
    /// process had written completely, and deletes what it had not.
    ///
    /// # Errors
    ///
    /// [`SetError::Locked`] if another process has the lock.
    pub fn lock(&self) -> Result<SetLock, SetError> {
        fs::create_dir_all(&self.path).map_err(unwritable(&self.path))?;
        let path = self.path.join(".lock");
        let mut options = File::options();
        let options = options.create(true).truncate(false).write(true);
        let file = options.open(&path).map_err(unwritable(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let folder = self.path.clone();
                return Err(SetError::Locked { folder });
            }
            Err(TryLockError::Error(source)) => return Err(SetError::Write { path, source }),
        }
        let lock = SetLock {
            folder: self.clone(),
            _file: file,
        };
        lock.recover()?;
        Ok(lock)
    }
}

/// The right to write to the folder of a set. The operating system takes it back when the process ends.
#[derive(Debug)]
pub struct SetLock {
    folder: SetFolder,
    _file: File,
}

impl SetLock {
    /// Writes the questions, those that were dropped, the record, and `others` of the folder's files by name: all or nothing.
    pub fn write(
        &self,
        questions: &[Item],
        dropped: &[Dropped],
        record: &Value,
        others: Vec<(&str, String)>,
    ) -> Result<(), SetError> {
        let mut files = others;
        files.extend([
            (DROPPED, lines_of(dropped)),
            (RECORD, format!("{record:#}\n")),
            (QUESTIONS, lines_of(questions)),
        ]);
        self.commit(&files)
    }

    /// Notes in the record that a sample was drawn for review, for [`DrawnSample::of`].
    pub fn record_sample(&self, sample: DrawnSample) -> Result<(), SetError> {
        let record = self.record_with("sample", Some(json!(sample)))?;
        self.commit(&[(RECORD, record)])
    }

    /// Rewrites the questions after a check of the questions that are in the folder, without those that are stale, and appends to the history, which keeps them.
    ///
    /// # Errors
    ///
    /// As for reading and writing.
    pub fn update(&self, check: &Check, time: &str) -> Result<Update, SetError> {
        let folder = &self.folder;
        let update = check.update(&folder.questions()?, time);
        let mut history = folder.history()?;
        history.push(update.clone());
        let mut files = vec![(HISTORY, lines_of(&history))];
        if folder.is_reviewed() {
            let rates = DefectRates::of(&check.updated, &folder.reviews()?);
            let rates = rates.map(|rates| json!(rates));
            files.push((RECORD, self.record_with(DefectRates::KEY, rates)?));
        }
        files.push((QUESTIONS, lines_of(&check.updated)));
        self.commit(&files)?;
        Ok(update)
    }

    /// Appends reviews, except those that say the same as what their author said before, and returns how many were appended. Puts the rates of
    /// defects that follow into the record.
    pub fn append_reviews(&self, reviews: &[Review]) -> Result<usize, SetError> {
        let before = self.folder.reviews()?;
        let is_said = |review: &&Review| {
            let said = before.iter().rev();
            let mut said = said.filter(|it| it.id == review.id && it.author == review.author);
            said.next().is_none_or(|it| !it.says_the_same(review))
        };
        let fresh: Vec<Review> = reviews.iter().filter(is_said).cloned().collect();
        self.append(&fresh)?;
        Ok(fresh.len())
    }

    /// Appends a review, whatever was said before, as [`append_reviews`](Self::append_reviews) does.
    pub fn append_review(&self, review: &Review) -> Result<(), SetError> {
        self.append(std::slice::from_ref(review))
    }

    fn append(&self, reviews: &[Review]) -> Result<(), SetError> {
        let items = self.folder.questions()?;
        let path = self.folder.path.join(REVIEW);
        append(&path, &lines_of(reviews)).map_err(unwritable(&path))?;
        let rates = DefectRates::of(&items, &self.folder.reviews()?);
        let record = self.record_with(DefectRates::KEY, rates.map(|rates| json!(rates)))?;
        self.commit(&[(RECORD, record)])
    }

    /// The record of the set with this member, or without it.
    fn record_with(&self, key: &str, value: Option<Value>) -> Result<String, SetError> {
        let mut record = self.folder.record()?.unwrap_or_else(|| json!({}));
        if let Some(members) = record.as_object_mut() {
            members.remove(key);
            members.extend(value.map(|value| (key.to_owned(), value)));
        }
        Ok(format!("{record:#}\n"))
    }

    /// Replaces files together: writes all of them beside the old ones, then renames them.
    fn commit(&self, files: &[(&str, String)]) -> Result<(), SetError> {
        let folder = &self.folder.path;
        let partials = files
            .iter()
            .map(|(name, text)| (format!("{name}{PARTIAL}"), text.as_str()));
        for (name, text) in partials.chain([(COMMIT.to_owned(), "")]) {
            let path = folder.join(name);
            if let Err(source) = write_synced(&path, text.as_bytes()) {
                // The first error is the one to report.
                let _ = fs::remove_file(folder.join(COMMIT));
                let _ = self.recover();
                return Err(SetError::Write { path, source });
            }
        }
        self.recover()
    }

    /// Renames complete files; deletes incomplete ones.
    fn recover(&self) -> Result<(), SetError> {
        let folder = &self.folder.path;
        let commit = folder.join(COMMIT);
        let is_complete = commit.exists();
        for name in [
            DROPPED,
            RECORD,
            SetFolder::MANIFEST,
            SetFolder::DOCUMENTS,
            HISTORY,
            QUESTIONS,
        ] {
            let partial = folder.join(format!("{name}{PARTIAL}"));
            if !partial.exists() {
                continue;
            }
            let done = if is_complete {
                fs::rename(&partial, folder.join(name))
            } else {
                fs::remove_file(&partial)
            };
            done.map_err(|source| SetError::Unfinished {
                path: partial,
                source,
            })?;
        }
        if is_complete {
            fs::remove_file(&commit).map_err(unwritable(&commit))?;
        }
        Ok(())
    }
}

/// The digest of a set: SHA-256 of its lines as they are written, in hexadecimal digits. Blank lines and the order of keys in a file do not
/// change it.
pub fn digest(questions: &[Item]) -> String {
    hex::encode(Sha256::digest(lines_of(questions)))
}

fn lines_of<T: Serialize>(values: &[T]) -> String {
    let mut lines = String::new();
    for value in values {
        let line = serde_json::to_string(value);
        lines.push_str(&line.expect("a struct of texts and numbers is JSON"));
        lines.push('\n');
    }
    lines
}

/// The values of a file of JSON lines, with the numbers of their lines. A last line without an end that is not JSON is what a killed process
/// left, and is ignored.
fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<(usize, T)>, SetError> {
    let text = regular_file::read_text(path, MOST_BYTES)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_ended = text.ends_with('\n');
    let count = text.lines().count();
    let mut values = Vec::with_capacity(count);
    for (line, json) in (1..).zip(text.lines()) {
        if json.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(json) {
            Ok(value) => values.push((line, value)),
            Err(error) if line == count && !is_ended && error.is_eof() => {}
            Err(error) => {
                return Err(SetError::Line {
                    path: path.to_owned(),
                    line,
                    // serde_json names the line within this text, which is always 1.
                    message: evals_messages::mismatch::in_json(&error.to_string())
                        .replace(" at line 1 column ", " at column "),
                });
            }
        }
    }
    Ok(values)
}

/// Appends whole lines, or nothing.
fn append(path: &Path, lines: &str) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let mut options = File::options();
    let options = options.create(true).truncate(false).read(true).write(true);
    let mut file = options.open(path)?;
    let mut before = String::new();
    file.read_to_string(&mut before)?;
    // What a killed process left of a line goes; a whole line that only lacks its end stays.
    let last = before.rfind('\n').map_or(0, |end| end + 1);
    let is_torn = serde_json::from_str::<Value>(&before[last..]).is_err();
    let kept = if is_torn { last } else { before.len() };
    file.set_len(kept as u64)?;
    file.seek(SeekFrom::End(0))?;
    let end = if kept > last { "\n" } else { "" };
    let written = file.write_all(format!("{end}{lines}").as_bytes());
    let written = written.and_then(|()| file.sync_all());
    if written.is_err() {
        // The first error is the one to report.
        let _ = file.set_len(kept as u64);
    }
    written
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> SetError {
    let path = path.to_owned();
    |source| SetError::Write { path, source }
}

#[cfg(test)]
mod tests;
