//! The batches that stay at their servers after an interruption.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indicatif::ProgressBar;

/// The batches that this command waits for: the names that their servers gave them, each with the line that shows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenBatches(Arc<Mutex<BTreeMap<String, ProgressBar>>>);

impl OpenBatches {
    pub(crate) fn add(&self, batch: &str, bar: &ProgressBar) {
        self.lock().insert(batch.to_owned(), bar.clone());
    }

    /// Clears the lines that show the batches, before the command prints its results.
    pub(crate) fn hide(&self) {
        for bar in self.lock().values() {
            bar.finish_and_clear();
        }
    }

    pub(crate) fn remove(&self, batch: &str) {
        self.lock().remove(batch);
    }

    /// Tells the user what to do about these batches when the command stops before they end; `None` if it waits for no batch.
    pub(crate) fn farewell(&self) -> Option<String> {
        let open = self.lock();
        if open.is_empty() {
            return None;
        }
        let names: Vec<String> = open.keys().map(|batch| format!("`{batch}`")).collect();
        let (noun, verb, them) = match open.len() {
            1 => ("batch", "goes", "it"),
            _ => ("batches", "go", "them"),
        };
        Some(format!(
            "the {noun} {} {verb} on at the server: run the same command again to collect the replies, or cancel {them} there (`POST /batches/ID/cancel`)",
            names.join(", ")
        ))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, ProgressBar>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
