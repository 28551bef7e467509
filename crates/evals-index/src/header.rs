//! What a table records about itself: what the index was made of, and what it held when it was finished.

use serde::{Deserialize, Serialize};

use crate::identity::Identity;

/// What a table says of itself.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) completion: Option<Completion>,
    pub(crate) identity: Option<Identity>,
}

/// What a finished index holds. Only a table with this record is ever searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Completion {
    pub(crate) documents: usize,
    pub(crate) chunks: usize,
    /// Whether a [`FileRecord`](crate::file_record::FileRecord) follows: the table is unfinished until it is there. Tables in object
    /// stores and those of earlier versions have none.
    #[serde(default)]
    pub(crate) files_recorded: bool,
    /// Absent from an index without vectors, and from one that an earlier version began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cut: Option<CutChunks>,
}

/// Of how many chunks of an index the embedding model read only the beginning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutChunks {
    /// Chunks of which it is known.
    pub cut: usize,
    /// Embedded chunks of which it is not known: the model, or the store that had their vectors, does not tell.
    pub unknown: usize,
}
