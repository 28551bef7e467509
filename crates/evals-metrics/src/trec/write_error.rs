use std::io;

use thiserror::Error;

/// Why a qrels or run file could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// An id is empty or has blanks, so the file would read back differently.
    #[error("`{field}` has no place in a TREC file: fields are neither empty nor have blanks")]
    Field {
        /// The query id, document id or tag.
        field: String,
    },
    /// The output cannot be written to.
    #[error("cannot write")]
    Io(#[from] io::Error),
}

/// Checks that a field reads back as it is written.
pub(super) fn check_field(field: &str) -> Result<&str, WriteError> {
    if field.is_empty() || field.contains(|c: char| c.is_ascii_whitespace()) {
        return Err(WriteError::Field {
            field: field.to_owned(),
        });
    }
    Ok(field)
}
