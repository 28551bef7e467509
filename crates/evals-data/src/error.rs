//! Why a dataset cannot be read.

use std::fmt;
use std::path::{Path, PathBuf};

use evals_messages::nearest;
use thiserror::Error;

use crate::hub::{Damage, HubError};

/// Why a dataset cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The hub does not deliver its files.
    #[error("cannot get dataset `{dataset}`{}", nearest::did_you_mean(nearest))]
    Hub {
        /// The dataset's name.
        dataset: String,
        /// Known datasets with a similar name, if the repository does not exist.
        nearest: Vec<String>,
        /// Why not.
        #[source]
        source: Box<HubError>,
    },
    /// The questions do not come in the clusters that the manifest or the command line asks for.
    #[error("cannot put the questions in clusters")]
    Clusters(#[from] evals::GroupError),
    /// A file cannot be opened or read.
    #[error("cannot read `{file}`")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// No file exists where the manifest says.
    #[error("no file matches `{}`", path.display())]
    NoFile {
        /// The path, with the glob if there is one.
        path: PathBuf,
    },
    /// A file or a folder cannot be a part of the dataset, or lacks what the manifest says about it.
    #[error("`{file}` {problem}")]
    File {
        /// The file or folder.
        file: String,
        /// The problem, as the predicate of a sentence about the file.
        problem: String,
    },
    /// A file on disk is damaged, or does not have the format that its name says.
    #[error("`{file}` is damaged")]
    Damaged {
        /// The file.
        file: String,
        /// The problem.
        #[source]
        damage: Damage,
    },
    /// The parquet reader failed, perhaps in the middle of the file.
    #[error("`{file}` is not readable parquet{}", how_to_refetch(cached.as_deref()))]
    Parquet {
        /// The file.
        file: String,
        /// Its path in the hub cache, if it is from there.
        cached: Option<PathBuf>,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The reviews of a test set cannot be read.
    #[error(transparent)]
    Reviews(#[from] evals_questions::SetError),
    /// A row is not valid, or contradicts the manifest or another row.
    #[error("{place}: {problem}")]
    Row {
        /// The row. For a fault about a quote in CSV, the line where it was opened.
        place: Place,
        /// The problem there.
        problem: String,
    },
    /// The dataset consists of questions and answers alone.
    #[error(
        "dataset `{dataset}` has questions and answers, but no documents; with `--target` it tests a system that has its own"
    )]
    NoDocuments {
        /// The dataset.
        dataset: String,
    },
    /// The dataset has no documents, or no questions.
    #[error("dataset `{dataset}` has no {what}{}", dropped_all(*rows))]
    Empty {
        /// The dataset.
        dataset: String,
        /// `documents` or `questions`.
        what: &'static str,
        /// Rows read.
        rows: u64,
    },
    /// Judgements name documents that are missing from the corpus, or that the corpus drops because they have no text.
    #[error(
        "judgements name {} missing from the corpus or without text there: {}{}",
        if *count == 1 { "a document".to_owned() } else { format!("{count} documents") },
        listed(first, *count),
        lines(named)
    )]
    UnknownDocuments {
        /// The number of unknown documents.
        count: usize,
        /// The first five, in order.
        first: Vec<String>,
        /// The first five in the order of the questions that name them.
        named: Vec<UnknownDocument>,
    },
    /// None of the documents judged relevant is in the corpus.
    #[error(
        "none of the documents judged relevant is in the corpus with a text, so every score would be 0; missing{}: {}; \
         judgements must name documents by the ids in `documents.uri`",
        if *count == 1 { String::new() } else { format!(" are {count} documents") },
        listed(first, *count)
    )]
    NoRelevantDocument {
        /// The number of missing judged documents.
        count: usize,
        /// The first five, in order.
        first: Vec<String>,
    },
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line or row, from 1.
    pub number: u64,
    /// The unit of the number.
    pub unit: Unit,
}

/// The unit in which a [`Place`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Lines of a text file, as an editor shows them.
    Line,
    /// Rows of a table.
    Row,
}

impl Place {
    pub(crate) fn line(file: &str, number: u64) -> Self {
        Self {
            file: file.to_owned(),
            number,
            unit: Unit::Line,
        }
    }

    /// The error about a problem at this place.
    pub(crate) fn fails(&self, problem: impl Into<String>) -> DataError {
        DataError::Row {
            place: self.clone(),
            problem: problem.into(),
        }
    }

    pub(crate) fn not_utf8(&self) -> DataError {
        self.fails("the text is not UTF-8")
    }

    pub(crate) fn is_no_json(&self, what: impl fmt::Display) -> DataError {
        self.fails(format!("not valid JSON: {what}"))
    }

    /// The error about an object that the end of the file cuts off.
    pub(crate) fn is_cut_off(&self) -> DataError {
        self.fails("the file ends in the middle of this object")
    }

    /// The error about a line, or a value of a JSON document, beyond the size limit.
    pub(crate) fn is_too_large(&self) -> DataError {
        self.fails("the value that starts here is larger than 128 MiB")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Line => write!(formatter, "{}:{}", self.file, self.number),
            Unit::Row => write!(formatter, "{}, row {}", self.file, self.number),
        }
    }
}

/// A question that names a document which the corpus does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownDocument {
    /// The id that names no document.
    pub id: String,
    /// The question's id.
    pub question: String,
    /// The row that names the document.
    pub place: Option<Place>,
    /// Documents of the corpus with a similar id.
    pub nearest: Vec<String>,
    /// How to write several ids, if the id looks like a list of them.
    pub advice: Option<&'static str>,
    /// Where the document is, and why it is not in the corpus, if it is a file that the manifest leaves out.
    pub left_out: Option<String>,
}

/// The first document in the same line, and each further one in its own.
fn lines(named: &[UnknownDocument]) -> String {
    let mut text = String::new();
    for (place, named) in named.iter().enumerate() {
        text.push_str(if place == 0 { "; " } else { "\n  " });
        text.push_str(&named.to_string());
    }
    text
}

impl UnknownDocument {
    /// Whether the id is probably a mistake that its author has to mend, and not a document that the corpus lacks.
    pub fn is_mistaken(&self) -> bool {
        !self.nearest.is_empty() || self.advice.is_some() || self.left_out.is_some()
    }
}

impl fmt::Display for UnknownDocument {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(formatter, "{place}: ")?;
        }
        write!(
            formatter,
            "question `{}` names `{}`{}",
            self.question,
            self.id,
            nearest::did_you_mean(&self.nearest)
        )?;
        if let Some(reason) = &self.left_out {
            write!(formatter, ": {reason}")?;
        }
        match self.advice {
            Some(advice) => write!(formatter, "; if it is a list of ids, {advice}"),
            None => Ok(()),
        }
    }
}

impl DataError {
    /// An error about a file as a whole.
    pub(crate) fn file(file: impl fmt::Display, problem: impl Into<String>) -> Self {
        Self::File {
            file: file.to_string(),
            problem: problem.into(),
        }
    }
}

/// The first of `count` names, in backticks.
fn listed(first: &[String], count: usize) -> String {
    let more = if count > first.len() { ", …" } else { "" };
    format!("{}{more}", quoted(first))
}

pub(crate) fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn how_to_refetch(cached: Option<&Path>) -> String {
    cached.map_or_else(String::new, |path| {
        format!("; delete `{}` to download it again", path.display())
    })
}

fn dropped_all(rows: u64) -> String {
    match rows {
        0 => String::new(),
        1 => ": `where` or an empty text drops its only row".to_owned(),
        rows => format!(": `where` or empty texts drop all of its {rows} rows"),
    }
}
