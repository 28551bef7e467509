//! Errors of journals.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::line::VERSION;
use crate::{CaseId, Difference};

/// Why a journal cannot be read, resumed or written to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The operating system refused.
    #[error("could not {action} journal `{}`", path.display())]
    Io {
        /// The action that failed, such as `open` or `write to`.
        action: &'static str,
        /// The journal's file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The path is a folder, a pipe or a device.
    #[error("journal `{}` is {found}, not a regular file; start a new run", path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
        /// The kind of file found, such as `a folder`.
        found: &'static str,
    },
    /// Another process has the journal open.
    #[error("another process is writing to journal `{}`; wait until it ends", path.display())]
    Locked {
        /// The journal's file.
        path: PathBuf,
    },
    /// The journal belongs to a run with other settings.
    #[error("journal `{}` belongs to a run with other settings ({difference}); start a new run, or resume that one with its own settings", path.display())]
    AnotherRun {
        /// The journal's file.
        path: PathBuf,
        /// The first setting that differs.
        difference: Box<Difference>,
    },
    /// The file is not a journal, or its first line is damaged.
    #[error("`{}` is not a journal, or its first line is damaged; start a new run", path.display())]
    NoHeader {
        /// The file.
        path: PathBuf,
    },
    /// The journal was written by a version of this program that uses another format.
    #[error("journal `{}` has version {found}, but this build reads version {VERSION}; start a new run, or resume with the version that wrote it", path.display())]
    UnknownVersion {
        /// The journal's file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// A line fails its check, in a file that has to be whole.
    #[error("`{}`, line {line}: the line is damaged; put back a copy of the file that is whole, or delete the line", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
    },
    /// A case holds a value that JSON cannot express.
    #[error("could not write case `{id}` as JSON")]
    Unwritable {
        /// The case.
        id: CaseId,
        /// The cause.
        source: serde_json::Error,
    },
    /// A record holds a value that JSON cannot express.
    #[error("could not write a line of `{}` as JSON", path.display())]
    UnwritableRecord {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
}
