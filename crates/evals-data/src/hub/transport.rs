//! Why a request got no answer.

use std::error::Error;
use std::fmt;

/// Why a request got no answer. The message is that of the innermost cause, such as `Connection refused`, because the errors around it
/// only name layers of the client.
#[derive(Debug)]
pub struct TransportError(reqwest::Error);

impl TransportError {
    pub(super) fn new(error: reqwest::Error) -> Self {
        Self(error)
    }

    /// Whether no connection was made.
    pub(super) fn is_connect(&self) -> bool {
        self.0.is_connect()
    }

    /// Whether the same request would fail again: it could not be built, or its redirect is refused.
    pub(super) fn is_final(&self) -> bool {
        self.0.is_builder() || self.0.is_redirect()
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut innermost: &dyn Error = &self.0;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        fmt::Display::fmt(innermost, formatter)
    }
}

impl Error for TransportError {}
