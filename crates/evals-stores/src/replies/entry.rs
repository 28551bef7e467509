//! How replies are stored: as JSON.

use std::error::Error;

use rusqlite::ToSql;
use sha2::{Digest, Sha256};

use crate::store::{Store, StoreColumn, StoreTable, StoredEntry};
use evals_models::ChatReply;

/// Stored replies of chat models.
pub type ReplyStore = Store<ChatReply>;

impl StoredEntry for ChatReply {
    /// The reply.
    type Columns = (String,);

    const TABLE: &'static StoreTable = &StoreTable {
        // `EvRp`.
        application: 0x4576_5270,
        format: 1,
        name: "replies",
        columns: &[StoreColumn {
            name: "reply",
            declared: "TEXT NOT NULL",
        }],
        added: &[],
        content: "reply",
    };

    fn to_columns(&self) -> rusqlite::Result<Self::Columns> {
        let reply = serde_json::to_string(self).map_err(Box::<dyn Error + Send + Sync>::from);
        Ok((reply.map_err(rusqlite::Error::ToSqlConversionFailure)?,))
    }

    fn from_columns((reply,): Self::Columns) -> Option<Self> {
        serde_json::from_str(&reply).ok()
    }

    fn values((reply,): &Self::Columns) -> Vec<&dyn ToSql> {
        vec![reply]
    }

    fn digest((reply,): &Self::Columns, digest: Sha256) -> Sha256 {
        digest.chain_update(reply)
    }
}
