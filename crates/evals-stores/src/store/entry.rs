//! Entries of a store: their keys, columns and tables.

use std::fmt;
use std::str::FromStr;

use rusqlite::types::Value;
use sha2::{Digest, Sha256};

/// A result that a [`Store`](super::Store) can keep. The kinds are those of this crate: replies, vectors and scores.
pub trait StoredEntry: Sized + Send + 'static {
    /// The table that holds entries of this kind.
    const TABLE: &'static StoreTable;

    /// The values of the entry's own columns, in the order of [`StoreTable::own`].
    fn to_columns(&self) -> rusqlite::Result<Vec<Value>>;

    /// Reads the entry back from columns whose digest is right. `None` if they do not hold one.
    fn from_columns(columns: Vec<Value>) -> Option<Self>;
}

/// The file and the table of one kind of entry.
///
/// Every table also has the columns `key`, `model`, `stored_at` (milliseconds since 1970) and `digest` (SHA-256 of key and
/// columns).
#[derive(Debug)]
pub struct StoreTable {
    /// Marks the file in the header of `SQLite`.
    pub(crate) application: i64,
    /// Version of the format. Files of another version are refused.
    pub(crate) format: i64,
    /// The name of the table, which is also what messages call the entries: `replies`.
    pub(crate) name: &'static str,
    /// Columns that every file has.
    pub(crate) columns: &'static [StoreColumn],
    /// Columns that files of earlier versions lack, all of them nullable. Opening such a file adds them.
    pub(crate) added: &'static [StoreColumn],
    /// The column that statistics measure.
    pub(crate) content: &'static str,
}

/// The name of a column, and its type and constraint in SQL.
pub(crate) type StoreColumn = (&'static str, &'static str);

impl StoreTable {
    /// The names of the columns that are an entry's own: [`columns`](Self::columns), then [`added`](Self::added).
    pub(super) fn own(&self) -> Vec<&str> {
        let own = self.columns.iter().chain(self.added);
        own.map(|(name, _)| *name).collect()
    }

    /// The SQL that creates the table.
    pub(super) fn schema(&self) -> String {
        let declare = |(name, declared): &StoreColumn| format!("{name} {declared}");
        let mut columns = vec![
            "key BLOB NOT NULL UNIQUE".to_owned(),
            "model TEXT NOT NULL".to_owned(),
            "stored_at INTEGER NOT NULL".to_owned(),
        ];
        columns.extend(self.columns.iter().map(declare));
        columns.push("digest BLOB NOT NULL".to_owned());
        columns.extend(self.added.iter().map(declare));
        format!("CREATE TABLE {} ({}) STRICT", self.name, columns.join(", "))
    }
}

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
