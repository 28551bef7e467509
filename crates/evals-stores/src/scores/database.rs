use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use super::{ScoreKey, StoredScore};
use crate::store::{File, Kind, StoreError, now};

/// The file of scores. A score is a 32-bit float with the least significant byte first.
pub(super) const SCORES: Kind = Kind {
    // `EvSc`.
    application: 0x4576_5363,
    format: 1,
    schema: "
    CREATE TABLE scores (
        key BLOB NOT NULL UNIQUE,
        model TEXT NOT NULL,
        stored_at INTEGER NOT NULL,
        nanoseconds INTEGER NOT NULL,
        input_tokens INTEGER,
        score BLOB NOT NULL,
        digest BLOB NOT NULL
    ) STRICT",
    added: &[],
    table: "scores",
    content: "score",
    holds: "scores",
};

/// What a row has besides its key.
struct Fields {
    nanoseconds: i64,
    input_tokens: Option<i64>,
    score: Vec<u8>,
    digest: Vec<u8>,
}

/// The scores under some keys, in the order of the keys. One that is not what was stored is none.
pub(super) fn get(
    file: &mut File,
    keys: &[ScoreKey],
) -> Result<Vec<Option<StoredScore>>, StoreError> {
    file.with(|connection| {
        // One transaction, so that the file is locked once for all.
        let transaction = connection.transaction()?;
        keys.iter().map(|key| read(&transaction, key)).collect()
    })
}

/// Stores scores of a model, all or none, in place of what was stored under their keys. When it returns, they outlive the process.
pub(super) fn put(
    file: &mut File,
    model: &str,
    scores: &[(ScoreKey, StoredScore)],
) -> Result<(), StoreError> {
    file.with(|connection| {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (key, score) in scores {
            write(&transaction, model, key, score)?;
        }
        transaction.commit()
    })
}

fn read(connection: &Connection, key: &ScoreKey) -> rusqlite::Result<Option<StoredScore>> {
    let fields = connection
        .prepare_cached(
            "SELECT nanoseconds, input_tokens, score, digest FROM scores WHERE key = ?1",
        )?
        .query_row([key.as_bytes()], |row| {
            Ok(Fields {
                nanoseconds: row.get(0)?,
                input_tokens: row.get(1)?,
                score: row.get(2)?,
                digest: row.get(3)?,
            })
        })
        .optional()?;
    Ok(fields.and_then(|fields| decode(key, &fields)))
}

fn write(
    connection: &Connection,
    model: &str,
    key: &ScoreKey,
    score: &StoredScore,
) -> rusqlite::Result<()> {
    let bytes = score.score.to_le_bytes();
    let nanoseconds = i64::try_from(score.took.as_nanos()).unwrap_or(i64::MAX);
    let tokens = score.input_tokens;
    let tokens = tokens.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
    let digest = digest(key, nanoseconds, tokens, &bytes);
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO scores (key, model, stored_at, nanoseconds, input_tokens, score, digest)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    statement.execute(params![
        key.as_bytes(),
        model,
        now(),
        nanoseconds,
        tokens,
        bytes,
        digest
    ])?;
    Ok(())
}

/// Checks a stored score, and that it is stored under its own key.
fn digest(key: &ScoreKey, nanoseconds: i64, tokens: Option<i64>, bytes: &[u8]) -> [u8; 32] {
    // No number of tokens is negative.
    let tokens = tokens.unwrap_or(-1);
    Sha256::new()
        .chain_update(key.as_bytes())
        .chain_update(nanoseconds.to_le_bytes())
        .chain_update(tokens.to_le_bytes())
        .chain_update(bytes)
        .finalize()
        .into()
}

/// Reads a score back to the last bit, unless it is not the one that was stored.
fn decode(key: &ScoreKey, fields: &Fields) -> Option<StoredScore> {
    let Fields {
        nanoseconds,
        input_tokens,
        score,
        digest: sum,
    } = fields;
    if digest(key, *nanoseconds, *input_tokens, score) != sum.as_slice() {
        return None;
    }
    Some(StoredScore {
        score: f32::from_le_bytes(score.as_slice().try_into().ok()?),
        took: Duration::from_nanos(nanoseconds.unsigned_abs()),
        input_tokens: input_tokens.map(i64::unsigned_abs),
    })
}
