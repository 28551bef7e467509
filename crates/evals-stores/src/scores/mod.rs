//! Stored scores of rerankers, which other commands use again: little-endian 32-bit floats.

mod cached_reranker;
#[cfg(test)]
mod tests;

use std::time::Duration;

use rusqlite::types::Value;
use serde_json::json;
use sha2::{Digest, Sha256};

pub use cached_reranker::CachedReranker;

use crate::store::{EntryKey, Store, StoreTable, StoredEntry};
use evals_models::ModelIdentity;

/// Stored scores of rerankers.
pub type ScoreStore = Store<StoredScore>;

/// The score of one text for one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredScore {
    /// The score, to the last bit.
    pub score: f32,
    /// How long the model took for it. If it scored several texts in one call, an equal share of the time of the call.
    pub took: Duration,
    /// Tokens read for it, if the model reports them. The shares of a call add up to its total.
    pub input_tokens: Option<u64>,
}

impl StoredEntry for StoredScore {
    const TABLE: &'static StoreTable = &StoreTable {
        // `EvSc`.
        application: 0x4576_5363,
        format: 1,
        name: "scores",
        columns: &[
            ("nanoseconds", "INTEGER NOT NULL"),
            ("input_tokens", "INTEGER"),
            ("score", "BLOB NOT NULL"),
        ],
        added: &[],
        content: "score",
    };

    fn to_columns(&self) -> rusqlite::Result<Vec<Value>> {
        let tokens = self.input_tokens;
        let tokens = tokens.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
        let nanoseconds = i64::try_from(self.took.as_nanos()).unwrap_or(i64::MAX);
        let score = self.score.to_le_bytes().to_vec();
        Ok(vec![nanoseconds.into(), tokens.into(), score.into()])
    }

    fn from_columns(columns: Vec<Value>) -> Option<Self> {
        let [Value::Integer(nanoseconds), tokens, Value::Blob(score)] = columns.as_slice() else {
            return None;
        };
        Some(Self {
            score: f32::from_le_bytes(score.as_slice().try_into().ok()?),
            took: Duration::from_nanos(nanoseconds.unsigned_abs()),
            input_tokens: match tokens {
                Value::Integer(tokens) => Some(tokens.unsigned_abs()),
                _ => None,
            },
        })
    }
}

/// The key of a reranker: SHA-256 of its identity and its place, as JSON with sorted names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankerKey(EntryKey);

impl RankerKey {
    /// The key of a reranker.
    ///
    /// `place` is the address of a server and everything else that it is sent, for models without a digest of their weights:
    /// equal names at two servers need not be equal models. `None` means that the identity is enough.
    pub fn new(identity: &ModelIdentity, place: Option<&str>) -> Self {
        let value = json!({
            "digest": identity.digest,
            "name": identity.name,
            "place": place,
            "provider": identity.provider,
        });
        Self(EntryKey::of(value.to_string()))
    }

    /// The key of a text's score for a query: SHA-256 of the reranker's key, the repetition `repeat` from 1, and the SHA-256 of query and
    /// of text.
    pub fn of(&self, query: &str, text: &str, repeat: u32) -> EntryKey {
        let key = Sha256::new()
            .chain_update(self.0.as_ref())
            .chain_update(repeat.to_le_bytes())
            .chain_update(Sha256::digest(query))
            .chain_update(Sha256::digest(text));
        EntryKey::finish(key)
    }
}
