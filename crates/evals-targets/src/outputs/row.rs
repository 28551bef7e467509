//! A row of a file of replies.

use serde_json::{Map, Value};

/// A row of a file of replies.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputRow {
    /// Where it is in the file, such as `line 3`.
    pub place: String,
    /// Its fields.
    pub fields: Map<String, Value>,
}
