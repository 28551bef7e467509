//! The secret that tells the user's browser from other programs and other users of the machine.

use std::fmt;

use anyhow::{Result, anyhow};

/// 128 random bits.
const BYTES: usize = 16;

/// A random token: the name of the folder that all pages of a server are in.
///
/// A browser sends cookies to every server of the machine, whatever its port, and so to those of other users. A path goes to this server
/// alone.
#[derive(Clone)]
pub(super) struct Token(String);

impl Token {
    /// A new token from the operating system's randomness.
    pub(super) fn random() -> Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| {
            anyhow!("cannot make a token, because the system has no random numbers: {error}")
        })?;
        Ok(Self(hex::encode(bytes)))
    }

    /// The path of a page in the folder.
    pub(super) fn path(&self, page: &str) -> String {
        format!("/{}/{page}", self.0)
    }

    /// The rest of a path in the folder, which starts with a slash; `None` for a path elsewhere.
    pub(super) fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        let below = path.strip_prefix('/')?;
        let (folder, rest) = below.split_at(below.find('/')?);
        self.is(folder).then_some(rest)
    }

    /// Whether a text is the token. The time that this takes does not depend on where they differ.
    fn is(&self, text: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), text.as_bytes());
        let differences = ours
            .iter()
            .zip(theirs)
            .fold(0, |all, (our, their)| all | (our ^ their));
        ours.len() == theirs.len() && differences == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn below(path: &str) -> Option<&str> {
        Token(TOKEN.to_owned()).below(path)
    }

    #[test]
    fn a_token_has_128_random_bits() {
        let [one, other] = [Token::random().unwrap(), Token::random().unwrap()];
        assert_eq!(one.0.len(), 32);
        assert!(one.0.bytes().all(|digit| digit.is_ascii_hexdigit()));
        assert_ne!(one.0, other.0);
        assert!(!format!("{one:?}").contains(&one.0));
    }

    #[test]
    fn the_first_folder_of_a_path_is_the_token() {
        let token = Token(TOKEN.to_owned());
        for (page, rest) in [
            ("", "/"),
            ("trend", "/trend"),
            ("run/a%20b/label", "/run/a%20b/label"),
            ("/evil.example/", "//evil.example/"),
        ] {
            assert_eq!(token.below(&token.path(page)), Some(rest));
        }
    }

    #[test]
    fn another_path_is_not_in_the_folder() {
        for path in [
            "",
            "/",
            "/trend",
            TOKEN,
            &format!("/{TOKEN}"),
            &format!("{TOKEN}/"),
            &format!("//{TOKEN}/"),
            &format!("/{}/", &TOKEN[1..]),
            &format!("/{TOKEN}0/"),
            &format!("/{}/", TOKEN.to_uppercase()),
            &format!("/trend/{TOKEN}/"),
        ] {
            assert_eq!(below(path), None, "{path}");
        }
    }
}
