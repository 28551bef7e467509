use std::collections::BTreeMap;
use std::time::SystemTime;

/// What a store of replies holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplyStoreStatistics {
    /// Replies in all.
    pub entries: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// When the oldest reply was stored; `None` of an empty store.
    pub oldest: Option<SystemTime>,
    /// When the newest reply was stored; `None` of an empty store.
    pub newest: Option<SystemTime>,
    /// Replies of each model, by its name as identities show it (`provider:name`).
    pub models: BTreeMap<String, ModelReplies>,
}

/// What a store holds of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelReplies {
    /// Replies of the model.
    pub entries: u64,
    /// Size of these replies in bytes, without what the file needs besides.
    pub bytes: u64,
}
