use std::time::Duration;

/// Which entries to remove from a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prune {
    /// All of them.
    All,
    /// Those that were stored longer ago than that.
    OlderThan(Duration),
    /// Those of a model, by its name as identities show it (`provider:name`).
    Model(String),
}

/// What a removal did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Entries that were removed.
    pub entries: u64,
    /// By how many bytes the file became smaller.
    pub bytes: u64,
}
