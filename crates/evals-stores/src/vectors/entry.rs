//! How vectors are stored: their components one after another, as little-endian 32-bit floats.

use std::time::Duration;

use rusqlite::ToSql;
use sha2::{Digest, Sha256};

use crate::store::{Store, StoreColumn, StoreTable, StoredEntry};

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
    /// Nanoseconds, components, cut.
    type Columns = (i64, Vec<u8>, Option<i64>);

    const TABLE: &'static StoreTable = &StoreTable {
        // `EvVc`.
        application: 0x4576_5663,
        format: 1,
        name: "vectors",
        columns: &[
            StoreColumn {
                name: "nanoseconds",
                declared: "INTEGER NOT NULL",
            },
            StoreColumn {
                name: "vector",
                declared: "BLOB NOT NULL",
            },
        ],
        added: &[StoreColumn {
            name: "cut",
            declared: "INTEGER",
        }],
        content: "vector",
    };

    fn to_columns(&self) -> rusqlite::Result<Self::Columns> {
        let components = self.values.iter();
        Ok((
            i64::try_from(self.took.as_nanos()).unwrap_or(i64::MAX),
            components.flat_map(|value| value.to_le_bytes()).collect(),
            self.cut.map(i64::from),
        ))
    }

    fn from_columns((nanoseconds, components, cut): Self::Columns) -> Option<Self> {
        let (components, rest) = components.as_chunks();
        let values = components.iter().map(|bytes| f32::from_le_bytes(*bytes));
        rest.is_empty().then(|| Self {
            values: values.collect(),
            took: Duration::from_nanos(nanoseconds.unsigned_abs()),
            cut: cut.map(|cut| cut != 0),
        })
    }

    fn values((nanoseconds, components, cut): &Self::Columns) -> Vec<&dyn ToSql> {
        vec![nanoseconds, components, cut]
    }

    /// `cut` adds nothing while it is null, so that rows from before the column existed keep their digest.
    fn digest((nanoseconds, components, cut): &Self::Columns, digest: Sha256) -> Sha256 {
        let digest = digest
            .chain_update(nanoseconds.to_le_bytes())
            .chain_update(components);
        match cut {
            Some(cut) => digest.chain_update(cut.to_le_bytes()),
            None => digest,
        }
    }
}
