//! The journal: keeps finished cases, from which an interrupted run resumes.

mod error;
mod file;
mod line;
mod records;
mod stored;
mod tail;

use std::fmt::Debug;

use async_trait::async_trait;

use crate::{CaseReport, Domain};

pub use error::JournalError;
pub use file::FileJournal;
pub use records::RecordFile;
pub use tail::{JournalCase, JournalTail, NewCases};

/// Stores every case before it counts as finished.
#[async_trait]
pub trait Journal<D: Domain>: Debug + Send + Sync {
    /// Stores one case. The case counts once this has returned. On an error the case does not count and the run stops: no
    /// further case starts, but running cases finish and are appended.
    ///
    /// The outcomes have the names that their evaluators gave them, as in [`CaseFinished`](crate::Event::CaseFinished).
    /// Several workers call this at the same time, in no particular order. A cancellation never drops the call halfway.
    async fn append(&self, case: &CaseReport<D>) -> Result<(), JournalError>;
}
