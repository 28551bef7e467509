//! The records in a table's schema: what the index was made of, and how much it held when it was finished.

use serde::{Deserialize, Serialize};

use crate::identity::Identity;

/// The records of one table.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) completion: Option<Completion>,
    pub(crate) identity: Option<Identity>,
}

/// How much a finished index holds. Only a table with this record is ever searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Completion {
    pub(crate) documents: usize,
    pub(crate) chunks: usize,
    /// Whether a record of the files follows; the table is unfinished until that exists. Tables in object stores, and tables that an
    /// earlier version built, have none.
    #[serde(default)]
    pub(crate) files_recorded: bool,
    /// Absent from an index without vectors, and from one whose build an earlier version began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cut: Option<CutChunks>,
}

/// How many chunks of an index the embedding model truncated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutChunks {
    /// Chunks that the model is known to have truncated.
    pub cut: usize,
    /// Embedded chunks for which neither the model nor the vector store says whether they were truncated.
    pub unknown: usize,
}
