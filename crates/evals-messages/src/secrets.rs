//! Credentials, and their removal from texts.

use std::borrow::Cow;
use std::fmt;
use std::sync::{PoisonError, RwLock};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::credential::REDACTED;

/// A shorter credential is a placeholder rather than a secret, and may be part of any word. It stays in texts.
const SHORTEST: usize = 8;

/// The characters that some programs percent-encode: all but the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Credentials, in every form in which a server may repeat them.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

/// The credentials of the process.
static HIDDEN: RwLock<Secrets> = RwLock::new(Secrets(Vec::new()));

/// Removes a credential from every message of the process: from [errors](crate::chain) and from texts that pass [`redacted`].
pub fn hide(secret: &str) {
    let mut hidden = HIDDEN.write().unwrap_or_else(PoisonError::into_inner);
    hidden.add(secret);
}

/// The text without credentials of the process.
pub fn redacted(text: &str) -> Cow<'_, str> {
    let hidden = HIDDEN.read().unwrap_or_else(PoisonError::into_inner);
    if hidden.0.iter().any(|secret| text.contains(secret)) {
        Cow::Owned(hidden.redact(text))
    } else {
        Cow::Borrowed(text)
    }
}

impl Secrets {
    /// Adds a credential as it is written, percent-encoded and decoded.
    pub fn add(&mut self, secret: &str) {
        self.add_form(secret);
        if let Ok(decoded) = percent_decode_str(secret).decode_utf8() {
            self.add_form(&decoded);
        }
        for set in [RESERVED, NON_ALPHANUMERIC] {
            let encoded = utf8_percent_encode(secret, set).to_string();
            self.add_form(&lower_escapes(&encoded));
            self.add_form(&encoded);
        }
    }

    fn add_form(&mut self, secret: &str) {
        if secret.len() >= SHORTEST && !self.0.iter().any(|known| known == secret) {
            self.0.push(secret.to_owned());
            // A credential that contains another has to be replaced first.
            self.0.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
    }

    /// The text without these credentials.
    pub fn redact(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            text.replace(secret.as_str(), REDACTED)
        })
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Secrets({})", self.0.len())
    }
}

/// A percent-encoded text with its escapes in lower case, `%2f` for `%2F`.
fn lower_escapes(encoded: &str) -> String {
    let mut digits = 0;
    let lowered = encoded.chars().map(|letter| match letter {
        '%' => {
            digits = 2;
            letter
        }
        _ if digits > 0 => {
            digits -= 1;
            letter.to_ascii_lowercase()
        }
        _ => letter,
    });
    lowered.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain;

    #[derive(Debug, thiserror::Error)]
    #[error("the store says: bad token {0}")]
    struct Repeated(&'static str);

    #[test]
    fn a_hidden_credential_is_in_no_message() {
        hide("FwoGZXIvYXdz/Token+1==");
        for form in ["FwoGZXIvYXdz/Token+1==", "FwoGZXIvYXdz%2FToken%2B1%3D%3D"] {
            assert_eq!(redacted(form), REDACTED);
            let message = chain(&Repeated(form));
            assert_eq!(message, "the store says: bad token [redacted]");
        }
        assert_eq!(redacted("nothing to hide"), "nothing to hide");
    }
}
