//! The contents of a store, and the choice of entries to remove.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// The contents of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreStatistics {
    /// Number of entries.
    pub entries: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// When the oldest entry was stored; `None` if the store is empty.
    pub oldest: Option<SystemTime>,
    /// When the newest entry was stored; `None` if the store is empty.
    pub newest: Option<SystemTime>,
    /// Entries of each model, by the label under which they were stored: `provider:name` unless another was chosen.
    pub models: BTreeMap<String, ModelEntries>,
}

/// The entries of one model in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelEntries {
    /// Number of entries.
    pub entries: u64,
    /// Size of their content in bytes. The file needs more than that.
    pub bytes: u64,
}

/// Which entries to remove from a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prune {
    /// All of them.
    All,
    /// Those stored longer ago than this.
    OlderThan(Duration),
    /// Those of a model, by its label in [`StoreStatistics::models`].
    Model(String),
}

/// The result of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Number of entries removed.
    pub entries: u64,
    /// By how many bytes the file shrank.
    pub bytes: u64,
}
