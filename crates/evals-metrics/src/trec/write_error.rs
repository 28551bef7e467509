use std::io;

use thiserror::Error;

use super::is_plain_id;

/// Why a qrels or run file could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// An id or tag is not [plain](super::is_plain_id), so the file would read back differently.
    #[error(
        "`{}` has no place in a TREC file: fields are not empty and have no white space, NUL or \
         leading byte order mark",
        field.escape_debug()
    )]
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
    if is_plain_id(field) {
        return Ok(field);
    }
    Err(WriteError::Field {
        field: field.to_owned(),
    })
}
