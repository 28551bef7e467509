//! The behaviour that all models with a store in front of them share: when they use it, and what they do once it cannot be written.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use thiserror::Error;

use super::Store;
use super::entry::{EntryKey, StoredEntry};
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

    /// Fails if a write failed before. `results` is what the entries are called.
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

/// A text with the key of its result.
pub(crate) type Keyed<'t> = (EntryKey, &'t str);

/// Each text once, in their order.
pub(crate) fn distinct<'t>(keyed: &[Keyed<'t>]) -> Vec<Keyed<'t>> {
    let mut seen = HashSet::new();
    let distinct = keyed.iter().filter(|(key, _)| seen.insert(*key));
    distinct.copied().collect()
}

/// A store in front of a model whose calls have several texts.
#[derive(Debug)]
pub(crate) struct Cache<E> {
    store: Store<E>,
    /// The label of the model in the statistics of the store.
    pub(crate) label: String,
    failure: WriteFailure,
}

impl<E: StoredEntry + Clone> Cache<E> {
    pub(crate) fn new(store: Store<E>, label: String) -> Self {
        let failure = WriteFailure::default();
        Self {
            store,
            label,
            failure,
        }
    }

    /// The stored results of some texts.
    pub(crate) async fn look_up(
        &self,
        policy: RefreshPolicy,
        keyed: &[Keyed<'_>],
    ) -> Result<HashMap<EntryKey, E>, StoreError> {
        if policy == RefreshPolicy::Refresh {
            return Ok(HashMap::new());
        }
        let keys: Vec<EntryKey> = keyed.iter().map(|(key, _)| *key).collect();
        let found = self.store.get_all(keys.clone()).await?;
        let found = keys.into_iter().zip(found);
        Ok(found
            .filter_map(|(key, entry)| Some((key, entry?)))
            .collect())
    }

    /// Stores those results that can be used again. The others are not stored: the caller reports them, and the next attempt may give
    /// other ones.
    pub(crate) async fn keep(&self, computed: &[(EntryKey, E)], is_reusable: impl Fn(&E) -> bool) {
        let reusable = computed.iter().filter(|(_, entry)| is_reusable(entry));
        let stored = self.store.put_all(&self.label, reusable.cloned().collect());
        self.failure.record(stored.await);
    }

    /// Fails if a result could not be stored before.
    pub(crate) fn check(&self) -> Result<(), Unwritable> {
        self.failure.check(E::TABLE.name)
    }

    /// Why a result could not be stored, if that happened.
    pub(crate) fn failure(&self) -> Option<&StoreError> {
        self.failure.get()
    }
}
