//! Makes text from outside safe to print.

use evals_messages::{secrets, visible};
use evals_settings::redaction;

/// Escapes control sequences, which servers, datasets and file names may bring into a message, and removes credentials and passwords in
/// addresses.
pub fn printable(text: &str) -> String {
    visible::text(&redaction::prose(&secrets::redacted(text)))
}
