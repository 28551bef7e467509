use rusqlite::{OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::ReplyKey;
use crate::store::{File, Kind, StoreError, now};
use evals_models::ChatReply;

/// The file of replies.
pub(super) const REPLIES: Kind = Kind {
    // `EvRp`.
    application: 0x4576_5270,
    format: 1,
    schema: "
    CREATE TABLE replies (
        key BLOB NOT NULL UNIQUE,
        model TEXT NOT NULL,
        stored_at INTEGER NOT NULL,
        reply TEXT NOT NULL,
        digest BLOB NOT NULL
    ) STRICT",
    added: &[],
    table: "replies",
    content: "reply",
    holds: "replies",
};

/// The reply under a key. One that is not what was stored is none, so that it is asked for and stored anew.
pub(super) fn get(file: &mut File, key: &ReplyKey) -> Result<Option<ChatReply>, StoreError> {
    let stored: Option<(String, Vec<u8>)> = file.with(|connection| {
        connection
            .prepare_cached("SELECT reply, digest FROM replies WHERE key = ?1")?
            .query_row([key.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
    })?;
    Ok(stored.and_then(|(reply, sum)| decode(key, &reply, &sum)))
}

/// Stores a reply in place of what was stored under the key. When it returns, the reply outlives the process.
pub(super) fn put(
    file: &mut File,
    key: &ReplyKey,
    model: &str,
    reply: &ChatReply,
) -> Result<(), StoreError> {
    let reply = serde_json::to_string(reply).map_err(|source| StoreError::Database {
        path: file.path().to_owned(),
        source: Box::new(source),
    })?;
    file.with(|connection| {
        let mut statement = connection.prepare_cached(
            "INSERT OR REPLACE INTO replies (key, model, stored_at, reply, digest) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        let digest = digest(key, &reply);
        statement.execute(params![key.as_bytes(), model, now(), reply, digest])
    })?;
    Ok(())
}

/// Checks a stored reply, and that it is stored under its own key.
fn digest(key: &ReplyKey, reply: &str) -> [u8; 32] {
    Sha256::new()
        .chain_update(key.as_bytes())
        .chain_update(reply)
        .finalize()
        .into()
}

/// Reads a reply back, unless it is not the one that was stored: `SQLite` notices a page that is missing, not one whose content
/// was overwritten.
fn decode(key: &ReplyKey, reply: &str, sum: &[u8]) -> Option<ChatReply> {
    let intact = digest(key, reply) == sum;
    intact.then(|| serde_json::from_str(reply).ok()).flatten()
}
