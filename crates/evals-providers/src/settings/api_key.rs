//! The API key of a server.

use std::fmt;

use super::error::SettingsError;

/// A key for a server, with the name of its environment variable, which messages may show.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    secret: String,
    variable: String,
}

impl ApiKey {
    /// Takes the value of the environment variable `variable`, without white space around it.
    ///
    /// Fails if the value is empty or has characters that a header cannot carry.
    pub fn new(
        secret: impl Into<String>,
        variable: impl Into<String>,
    ) -> Result<Self, SettingsError> {
        let (secret, variable) = (secret.into().trim().to_owned(), variable.into());
        if secret.is_empty() {
            return Err(SettingsError::EmptyKey { variable });
        }
        if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SettingsError::KeyCharacters { variable });
        }
        Ok(Self { secret, variable })
    }

    /// The name of the environment variable that holds the key.
    pub fn variable(&self) -> &str {
        &self.variable
    }

    pub(crate) fn expose(&self) -> &str {
        &self.secret
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ApiKey(from `{}`)", self.variable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_where_it_came_from_and_never_what_it_is() {
        let key = ApiKey::new("sk-secret\n", "OPENAI_API_KEY").unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(from `OPENAI_API_KEY`)");
        assert_eq!(key.expose(), "sk-secret");
    }

    #[test]
    fn refuses_what_no_header_can_carry() {
        let message = |secret| ApiKey::new(secret, "KEY").unwrap_err().to_string();
        assert_eq!(
            message(" \n"),
            "the environment variable `KEY` is empty; set it to a key"
        );
        assert_eq!(
            message("sk-a\nsk-b"),
            "the environment variable `KEY` contains characters that a key cannot have"
        );
    }
}
