//! Text from elsewhere on its way to a terminal, which it must not steer.

use evals_messages::visible;

use crate::redaction;

/// A text as a terminal may be given it: servers, datasets and file names may bring escape sequences into a message, and
/// addresses may hold passwords.
pub(crate) fn printable(text: &str) -> String {
    visible::text(&redaction::prose(text))
}
