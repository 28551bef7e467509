use serde::{Deserialize, Serialize};

/// What a finished index holds. Only a table with this record is ever searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Completion {
    pub(crate) documents: usize,
    pub(crate) chunks: usize,
    /// Whether a [`FileRecord`](crate::file_record::FileRecord) follows: the table is unfinished until it is there. Tables in object
    /// stores and those of earlier versions have none.
    #[serde(default)]
    pub(crate) files_recorded: bool,
}
