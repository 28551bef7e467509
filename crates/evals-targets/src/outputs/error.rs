//! Why a file holds no replies.

use std::fmt;
use std::io;
use std::path::PathBuf;

use evals_guard::regular_file::FileError;
use evals_messages::quantity;
use thiserror::Error;

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
