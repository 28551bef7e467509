use serde::{Deserialize, Serialize};

/// What a finished index holds. Only a table with this record is ever searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Completion {
    pub(crate) documents: usize,
    pub(crate) chunks: usize,
}
