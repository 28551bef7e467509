use std::collections::BTreeMap;
use std::time::SystemTime;

/// What a store holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreStatistics {
    /// Entries in all.
    pub entries: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// When the oldest entry was stored; `None` of an empty store.
    pub oldest: Option<SystemTime>,
    /// When the newest entry was stored; `None` of an empty store.
    pub newest: Option<SystemTime>,
    /// Entries of each model, by its name as identities show it (`provider:name`).
    pub models: BTreeMap<String, ModelEntries>,
}

/// What a store holds of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelEntries {
    /// Entries of the model.
    pub entries: u64,
    /// Size of what is stored in bytes, without what the file needs besides.
    pub bytes: u64,
}
