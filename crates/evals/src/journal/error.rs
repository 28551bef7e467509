//! Why a journal cannot be used.

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
        /// What was being done, such as `open` or `write to`.
        action: &'static str,
        /// The journal's file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A folder, a pipe or a device stands where the journal would.
    #[error("journal `{}` is {found}, not a regular file; start a new run", path.display())]
    NotRegular {
        /// Where the journal would be.
        path: PathBuf,
        /// What stands there, such as `a folder`.
        found: &'static str,
    },
    /// Someone else has the journal open.
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
        /// The version it has.
        found: u32,
    },
    /// A case holds something that JSON cannot.
    #[error("could not write case `{id}` as JSON")]
    Unwritable {
        /// The case.
        id: CaseId,
        /// What stands in the way.
        source: serde_json::Error,
    },
}
