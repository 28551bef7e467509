//! The key under which an entry is stored.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// The key of an entry: the SHA-256 digest of everything that a result depends on. It is shown as hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryKey([u8; 32]);

impl EntryKey {
    /// The digest of some bytes.
    pub(crate) fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self::finish(Sha256::new().chain_update(bytes))
    }

    /// The digest of everything that the hasher was given.
    pub(crate) fn finish(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }
}

impl AsRef<[u8]> for EntryKey {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Reads a key as it is shown.
impl FromStr for EntryKey {
    type Err = hex::FromHexError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut digest = [0; 32];
        hex::decode_to_slice(text, &mut digest)?;
        Ok(Self(digest))
    }
}

impl fmt::Display for EntryKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for EntryKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
