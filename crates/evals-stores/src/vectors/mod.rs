//! Stored vectors of embedding models, which other runs, chunkings and search profiles use again: their components one after another, as
//! little-endian 32-bit floats.

mod cached_embedder;
#[cfg(test)]
mod tests;

use std::time::Duration;

use rusqlite::types::Value;
use serde_json::json;
use sha2::{Digest, Sha256};

pub use cached_embedder::CachedEmbedder;

use crate::store::{EntryKey, Store, StoreTable, StoredEntry};
use evals_models::{ModelIdentity, TextKind};

/// Stored vectors of embedding models.
pub type EmbeddingStore = Store<StoredVector>;

/// The vector of one text.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVector {
    /// Its components, to the last bit.
    pub values: Vec<f32>,
    /// How long the model took for it. If it embedded several texts in one call, an equal share of the time of the call.
    pub took: Duration,
    /// Whether the model truncated the text. `None` if the model does not report that, or if an earlier version stored the
    /// vector.
    pub cut: Option<bool>,
}

impl StoredEntry for StoredVector {
    const TABLE: &'static StoreTable = &StoreTable {
        // `EvVc`.
        application: 0x4576_5663,
        format: 1,
        name: "vectors",
        columns: &[
            ("nanoseconds", "INTEGER NOT NULL"),
            ("vector", "BLOB NOT NULL"),
        ],
        added: &[("cut", "INTEGER")],
        content: "vector",
    };

    fn to_columns(&self) -> rusqlite::Result<Vec<Value>> {
        let nanoseconds = i64::try_from(self.took.as_nanos()).unwrap_or(i64::MAX);
        let components = self.values.iter();
        let components: Vec<u8> = components.flat_map(|value| value.to_le_bytes()).collect();
        let cut = self.cut.map(i64::from);
        Ok(vec![nanoseconds.into(), components.into(), cut.into()])
    }

    fn from_columns(columns: Vec<Value>) -> Option<Self> {
        let [Value::Integer(nanoseconds), Value::Blob(components), cut] = columns.as_slice() else {
            return None;
        };
        let (components, rest) = components.as_chunks();
        let values = components.iter().map(|bytes| f32::from_le_bytes(*bytes));
        rest.is_empty().then(|| Self {
            values: values.collect(),
            took: Duration::from_nanos(nanoseconds.unsigned_abs()),
            cut: match cut {
                Value::Integer(cut) => Some(*cut != 0),
                _ => None,
            },
        })
    }
}

/// The key of a model and the length of its vectors: SHA-256 of both, as JSON with sorted names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelKey(EntryKey);

impl ModelKey {
    /// The key of a model.
    ///
    /// `place` is the address of a server, for models without a digest of their weights: equal names at two servers need not be
    /// equal models. `None` means that the identity is enough.
    pub fn new(identity: &ModelIdentity, dimension: usize, place: Option<&str>) -> Self {
        let value = json!({
            "digest": identity.digest,
            "dimension": dimension,
            "name": identity.name,
            "place": place,
            "provider": identity.provider,
        });
        Self(EntryKey::of(value.to_string()))
    }

    /// The key of a text's vector: SHA-256 of the model's key, the kind of the text (`d` or `q`) and the text's SHA-256.
    pub fn of(&self, text: &str, kind: TextKind) -> EntryKey {
        let kind = match kind {
            TextKind::Document => b"d",
            TextKind::Query => b"q",
        };
        let key = Sha256::new()
            .chain_update(self.0.as_ref())
            .chain_update(kind)
            .chain_update(Sha256::digest(text));
        EntryKey::finish(key)
    }
}
