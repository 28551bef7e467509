//! The replies of a file by case and repetition.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use evals_guard::regular_file::{self, FileError};
use evals_metrics::Run;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::{OutputRow, OutputsError, RowProblem, csv_file, json_lines};
use crate::{Mapping, Reply, ReplyDocument, mapping};

/// Replies that were made elsewhere, by case and repetition.
///
/// A row has an `id` and the fields of a reply, or an `error`. With a `repeat`, which counts from 1, it is the reply to one
/// repetition of the case, otherwise to all.
#[derive(Clone, Debug)]
pub struct Outputs {
    path: PathBuf,
    digest: String,
    replies: BTreeMap<String, Repetitions>,
}

/// A reply, or the message with which the system failed.
type RecordedReply = Result<Reply, String>;

/// The replies to the repetitions of a case, or the one to all of them, which has no number.
type Repetitions = BTreeMap<Option<u32>, RecordedReply>;

/// Collects rows and their problems.
#[derive(Debug)]
struct Collected<'m> {
    mapping: &'m Mapping,
    replies: BTreeMap<String, Repetitions>,
    problems: Vec<RowProblem>,
}

impl Outputs {
    /// Reads JSON Lines (`.jsonl`, `.ndjson`), CSV (`.csv`) or tab-separated values (`.tsv`). Each row is read by `mapping`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, has none of these formats, or has rows that are no replies. All such rows are in one error.
    pub fn read(path: &Path, mapping: &Mapping) -> Result<Self, OutputsError> {
        let format = OutputsFormat::of(path)?;
        let mut file = Digesting::new(regular_file::open(path)?);
        let mut collected = Collected::new(mapping);
        let take = |row| collected.take(row);
        let read = match format {
            OutputsFormat::JsonLines => json_lines::read(&mut file, take),
            OutputsFormat::Separated(by) => csv_file::read(&mut file, by, take),
        };
        let digest = read.and_then(|()| file.finish());
        let digest = digest.map_err(|source| OutputsError::Read {
            path: path.to_owned(),
            source,
        })?;
        collected.finish(path, digest)
    }

    /// Takes rows that somebody else read from a file with this digest, for example of parquet.
    ///
    /// # Errors
    ///
    /// Rows are no replies. All of them are in one error.
    pub fn from_rows(
        path: &Path,
        digest: impl Into<String>,
        rows: impl IntoIterator<Item = OutputRow>,
        mapping: &Mapping,
    ) -> Result<Self, OutputsError> {
        let mut collected = Collected::new(mapping);
        rows.into_iter().for_each(|row| collected.take(Ok(row)));
        collected.finish(path, digest.into())
    }

    /// Reads a TREC run. The documents of a query are ordered as `trec_eval` orders them: by score, and by id where scores tie.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no TREC run.
    pub fn read_trec(path: &Path) -> Result<Self, OutputsError> {
        let (run, digest) = read_trec(path)?;
        let replies = run.into_iter().map(|(query, ranking)| {
            let documents = ranking.iter().map(|document| ReplyDocument {
                id: Some(document.id.clone()),
                score: Some(f64::from(document.score)),
                ..ReplyDocument::default()
            });
            let reply = Reply {
                documents: Some(documents.collect()),
                ..Reply::default()
            };
            (query, Repetitions::from([(None, Ok(reply))]))
        });
        Ok(Self {
            path: path.to_owned(),
            digest,
            replies: replies.collect(),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The SHA-256 of the file's bytes, in hexadecimal digits.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The cases that have a reply, in the order of their ids.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &str> {
        self.replies.keys().map(String::as_str)
    }

    /// The ids in the file that are none of these cases.
    pub fn unknown<'s>(&'s self, cases: &BTreeSet<&str>) -> Vec<&'s str> {
        self.ids().filter(|id| !cases.contains(id)).collect()
    }

    /// The reply to a repetition, or the message with which the system failed; `None` if the file has neither.
    pub(super) fn reply(&self, id: &str, repeat: u32) -> Option<&RecordedReply> {
        let replies = self.replies.get(id)?;
        replies.get(&None).or_else(|| replies.get(&Some(repeat)))
    }
}

enum OutputsFormat {
    JsonLines,
    Separated(u8),
}

impl OutputsFormat {
    fn of(path: &Path) -> Result<Self, OutputsError> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str() {
            Some("jsonl" | "ndjson") => Ok(Self::JsonLines),
            Some("csv") => Ok(Self::Separated(b',')),
            Some("tsv") => Ok(Self::Separated(b'\t')),
            _ => Err(OutputsError::UnknownFormat {
                path: path.to_owned(),
            }),
        }
    }
}

impl<'m> Collected<'m> {
    fn new(mapping: &'m Mapping) -> Self {
        Self {
            mapping,
            replies: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    fn take(&mut self, row: Result<OutputRow, RowProblem>) {
        if let Err(problem) = row.and_then(|row| {
            let OutputRow { place, fields } = row;
            let added = self.add(fields);
            added.map_err(|what| RowProblem { place, what })
        }) {
            self.problems.push(problem);
        }
    }

    fn add(&mut self, fields: Map<String, Value>) -> Result<(), String> {
        let row = Value::Object(fields);
        let own = || match row.get("id") {
            Some(Value::String(id)) => Some(id.clone()),
            Some(Value::Number(id)) => Some(id.to_string()),
            _ => None,
        };
        let id = self.mapping.id(&row).or_else(own);
        let id = id.ok_or("it has no `id`, a text or a number")?;
        let repeat = repeat(&row)?;
        let reply = match row.get("error").and_then(mapping::error) {
            Some(message) => Err(message),
            None => Ok(self.mapping.read(&row).map_err(|error| error.to_string())?),
        };
        self.insert(id, repeat, reply)
    }

    fn insert(
        &mut self,
        id: String,
        repeat: Option<u32>,
        reply: RecordedReply,
    ) -> Result<(), String> {
        let known = self.replies.entry(id.clone()).or_default();
        if known
            .keys()
            .any(|other| other.is_some() != repeat.is_some())
        {
            return Err(format!(
                "`{id}` has replies with and without `repeat`; write it in all of them or in none"
            ));
        }
        match (known.insert(repeat, reply), repeat) {
            (None, _) => Ok(()),
            (Some(_), None) => Err(format!("`{id}` has a second reply")),
            (Some(_), Some(repeat)) => {
                Err(format!("`{id}` has a second reply to repetition {repeat}"))
            }
        }
    }

    fn finish(self, path: &Path, digest: String) -> Result<Outputs, OutputsError> {
        let path = path.to_owned();
        if !self.problems.is_empty() {
            let problems = self.problems;
            return Err(OutputsError::Rows { path, problems });
        }
        Ok(Outputs {
            path,
            digest,
            replies: self.replies,
        })
    }
}

/// Which repetition a row is for; `None` for all.
fn repeat(row: &Value) -> Result<Option<u32>, String> {
    let written = match row.get("repeat") {
        None | Some(Value::Null) => return Ok(None),
        Some(written) => written,
    };
    let repeat = written.as_u64().and_then(|it| u32::try_from(it).ok());
    let repeat = repeat.filter(|repeat| *repeat > 0);
    repeat
        .map(Some)
        .ok_or_else(|| format!("`repeat` is a whole number from 1, not `{written}`"))
}

/// A file and the SHA-256 of its bytes so far.
struct Digesting {
    file: File,
    digest: Sha256,
}

impl Digesting {
    fn new(file: File) -> Self {
        Self {
            file,
            digest: Sha256::new(),
        }
    }

    /// Reads to the end of the file and returns its digest in hexadecimal digits.
    fn finish(mut self) -> io::Result<String> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(hex::encode(self.digest.finalize()))
    }
}

impl Read for Digesting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.digest.update(&buffer[..read]);
        Ok(read)
    }
}

/// The most bytes of a run: some hundred million lines.
const TREC_LIMIT: u64 = 8 << 30;

fn read_trec(path: &Path) -> Result<(Run, String), OutputsError> {
    let bytes = regular_file::read(path, TREC_LIMIT)?;
    let digest = hex::encode(Sha256::digest(&bytes));
    let text = String::from_utf8(bytes).map_err(|_| FileError::NotText {
        path: path.to_owned(),
    })?;
    let run = evals_metrics::trec::parse_run_of_doubles(&text);
    let run = run.map_err(|source| OutputsError::Trec {
        path: path.to_owned(),
        source,
    })?;
    Ok((run, digest))
}
