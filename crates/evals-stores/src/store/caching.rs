//! The behaviour that all models with a store in front of them share: when they use it, and what they do once it cannot be written.

use std::sync::{Arc, OnceLock};

use thiserror::Error;

use super::error::StoreError;

/// Whether stored results are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefreshPolicy {
    /// Stored results are used; the model is asked for the others.
    #[default]
    Reuse,
    /// The model is asked for everything, and its results replace the stored ones.
    Refresh,
}

/// The first failure to store a result.
///
/// A paid result is used even if it cannot be stored. After that no other is requested, because it would be paid for again in
/// the next run.
#[derive(Debug, Default)]
pub(crate) struct WriteFailure(OnceLock<Arc<StoreError>>);

/// No further results are requested, because an earlier one could not be stored.
#[derive(Debug, Error)]
#[error("no more {results} are requested, because the last could not be stored")]
pub(crate) struct Unwritable {
    /// The kind of results in the store, such as `replies`.
    results: &'static str,
    #[source]
    source: Arc<StoreError>,
}

impl WriteFailure {
    /// Remembers the error of a write that failed, unless there was one before.
    pub(crate) fn record(&self, written: Result<(), StoreError>) {
        if let Err(error) = written {
            self.0.get_or_init(|| Arc::new(error));
        }
    }

    /// Fails if a write failed before.
    pub(crate) fn check(&self, results: &'static str) -> Result<(), Unwritable> {
        match self.0.get() {
            Some(error) => Err(Unwritable {
                results,
                source: Arc::clone(error),
            }),
            None => Ok(()),
        }
    }

    /// The error of the first write that failed.
    pub(crate) fn get(&self) -> Option<&StoreError> {
        self.0.get().map(AsRef::as_ref)
    }
}
