use serde::{Deserialize, Serialize};

use crate::CutChunks;

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
