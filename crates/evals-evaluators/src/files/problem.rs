//! Mistakes in a dataset file, with their places.

use std::fmt;
use std::path::{Path, PathBuf};

use evals_guard::regular_file::FileError;
use evals_yaml::{Document, Node, Place, YamlError};
use thiserror::Error;

/// Why a dataset file cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DatasetFileError {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] FileError),
    /// The file's name does not tell its format.
    #[error(
        "`{}` does not have the name of a dataset file, which ends in `.yaml`, `.yml`, `.json`, `.jsonl` or `.csv`",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// The file has mistakes.
    #[error(transparent)]
    Invalid(#[from] Problems),
}

/// All mistakes of one file, in the order of the file; at least one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct Problems {
    /// The file.
    pub path: PathBuf,
    /// The mistakes.
    pub problems: Vec<Problem>,
}

/// A mistake in a file, or something to know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// The mistake, and how to fix it.
    pub message: String,
}

impl Problem {
    /// The problem as a line, `file:line:column: message`.
    pub fn at(&self, path: &Path) -> String {
        format!("{}:{}: {}", path.display(), self.place, self.message)
    }

    pub(super) fn new(place: Place, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { place, message }
    }
}

impl From<YamlError> for Problem {
    fn from(error: YamlError) -> Self {
        let YamlError {
            line,
            column,
            message,
        } = error;
        let place = Place { line, column };
        Self { place, message }
    }
}

/// One line for each problem.
impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self
            .problems
            .iter()
            .map(|problem| problem.at(&self.path))
            .collect();
        formatter.write_str(&lines.join("\n"))
    }
}

/// Errors and warnings while a file is read.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) errors: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

impl Findings {
    /// The root of a YAML or JSON text, whose errors and warnings are kept.
    pub(super) fn root(&mut self, document: Document) -> Node {
        let Document {
            root,
            errors,
            warnings,
        } = document;
        self.errors.extend(errors.into_iter().map(Problem::from));
        self.warnings
            .extend(warnings.into_iter().map(Problem::from));
        root
    }

    /// The error about a value of another kind than is needed. `what` names it, such as `a case`.
    pub(super) fn mismatch(&mut self, node: &Node, what: &str, needed: &str) {
        self.error(
            node.place,
            format!("{what} is {}, where {needed}", node.kind()),
        );
    }

    pub(super) fn error(&mut self, place: Place, message: impl Into<String>) {
        self.errors.push(Problem::new(place, message));
    }

    pub(super) fn warning(&mut self, place: Place, message: impl Into<String>) {
        self.warnings.push(Problem::new(place, message));
    }
}
