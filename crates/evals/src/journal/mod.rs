//! Keeping finished cases, so that an interrupted run can be resumed.

mod error;
mod file;
mod line;
mod stored;

use std::fmt::Debug;

use async_trait::async_trait;

use crate::{CaseReport, Domain};

pub use error::JournalError;
pub use file::FileJournal;

/// Keeps every case before it counts as finished.
#[async_trait]
pub trait Journal<D: Domain>: Debug + Send + Sync {
    /// Keeps one case. The case counts once this has returned; where it fails, the case does not count and the run is
    /// stopped: no further case is started, and running ones are still handed over.
    ///
    /// The outcomes have the names that their evaluators gave them, as in
    /// [`CaseFinished`](crate::Event::CaseFinished). Called by several workers at the same time, in no particular order, and
    /// never dropped halfway by a cancellation.
    async fn append(&self, case: &CaseReport<D>) -> Result<(), JournalError>;
}
