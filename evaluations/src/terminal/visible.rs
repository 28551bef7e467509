//! Makes text from outside safe to print.

use evals_messages::visible;

use crate::redaction;

/// Escapes control sequences, which servers, datasets and file names may bring into a message, and removes passwords from
/// addresses.
pub(crate) fn printable(text: &str) -> String {
    visible::text(&redaction::prose(text))
}
