use std::error::Error;
use std::fmt;

/// Why a request got no answer, in the words of the innermost cause: `Connection refused`, say. What is around it names
/// the layers of a client and not what happened.
#[derive(Debug)]
pub struct TransportError(reqwest::Error);

impl TransportError {
    pub(super) fn new(error: reqwest::Error) -> Self {
        Self(error)
    }

    /// Whether there was no connection at all.
    pub(super) fn is_connect(&self) -> bool {
        self.0.is_connect()
    }

    /// Whether the same request would fail again: it could not even be made, or is redirected to an address that is refused.
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
