//! How scores are stored: as little-endian 32-bit floats.

use std::time::Duration;

use rusqlite::ToSql;
use sha2::{Digest, Sha256};

use crate::store::{Store, StoreColumn, StoreTable, StoredEntry};

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
    /// Nanoseconds, input tokens, score.
    type Columns = (i64, Option<i64>, Vec<u8>);

    const TABLE: &'static StoreTable = &StoreTable {
        // `EvSc`.
        application: 0x4576_5363,
        format: 1,
        name: "scores",
        columns: &[
            StoreColumn {
                name: "nanoseconds",
                declared: "INTEGER NOT NULL",
            },
            StoreColumn {
                name: "input_tokens",
                declared: "INTEGER",
            },
            StoreColumn {
                name: "score",
                declared: "BLOB NOT NULL",
            },
        ],
        added: &[],
        content: "score",
    };

    fn to_columns(&self) -> rusqlite::Result<Self::Columns> {
        let tokens = self.input_tokens;
        Ok((
            i64::try_from(self.took.as_nanos()).unwrap_or(i64::MAX),
            tokens.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX)),
            self.score.to_le_bytes().to_vec(),
        ))
    }

    fn from_columns((nanoseconds, input_tokens, score): Self::Columns) -> Option<Self> {
        Some(Self {
            score: f32::from_le_bytes(score.as_slice().try_into().ok()?),
            took: Duration::from_nanos(nanoseconds.unsigned_abs()),
            input_tokens: input_tokens.map(i64::unsigned_abs),
        })
    }

    fn values((nanoseconds, input_tokens, score): &Self::Columns) -> Vec<&dyn ToSql> {
        vec![nanoseconds, input_tokens, score]
    }

    /// An unknown number of tokens counts as -1, which no known number is.
    fn digest((nanoseconds, input_tokens, score): &Self::Columns, digest: Sha256) -> Sha256 {
        digest
            .chain_update(nanoseconds.to_le_bytes())
            .chain_update(input_tokens.unwrap_or(-1).to_le_bytes())
            .chain_update(score)
    }
}
