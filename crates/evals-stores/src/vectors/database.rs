use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use super::{EmbeddingKey, StoredVector};
use crate::store::{File, Kind, StoreError, now};

/// The file of vectors. A vector is its components one after another, as 32-bit floats with the least significant byte first.
pub(super) const VECTORS: Kind = Kind {
    // `EvVc`.
    application: 0x4576_5663,
    format: 1,
    schema: "
    CREATE TABLE vectors (
        key BLOB NOT NULL UNIQUE,
        model TEXT NOT NULL,
        stored_at INTEGER NOT NULL,
        nanoseconds INTEGER NOT NULL,
        vector BLOB NOT NULL,
        digest BLOB NOT NULL,
        cut INTEGER
    ) STRICT",
    added: &[("cut", "INTEGER")],
    table: "vectors",
    content: "vector",
    holds: "vectors",
};

/// What a row has besides its key: nanoseconds, vector, digest, cut.
type Fields = (i64, Vec<u8>, Vec<u8>, Option<i64>);

/// The vectors under some keys, in the order of the keys. One that is not what was stored is none.
pub(super) fn get(
    file: &mut File,
    keys: &[EmbeddingKey],
) -> Result<Vec<Option<StoredVector>>, StoreError> {
    file.with(|connection| {
        // One transaction, so that the file is locked once for all.
        let transaction = connection.transaction()?;
        keys.iter().map(|key| read(&transaction, key)).collect()
    })
}

/// Stores vectors of a model, all or none, in place of what was stored under their keys. When it returns, they outlive the process.
pub(super) fn put(
    file: &mut File,
    model: &str,
    vectors: &[(EmbeddingKey, StoredVector)],
) -> Result<(), StoreError> {
    file.with(|connection| {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (key, vector) in vectors {
            write(&transaction, model, key, vector)?;
        }
        transaction.commit()
    })
}

fn read(connection: &Connection, key: &EmbeddingKey) -> rusqlite::Result<Option<StoredVector>> {
    let fields: Option<Fields> = connection
        .prepare_cached("SELECT nanoseconds, vector, digest, cut FROM vectors WHERE key = ?1")?
        .query_row([key.as_bytes()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    Ok(fields
        .and_then(|(nanoseconds, bytes, sum, cut)| decode(key, nanoseconds, &bytes, cut, &sum)))
}

fn write(
    connection: &Connection,
    model: &str,
    key: &EmbeddingKey,
    vector: &StoredVector,
) -> rusqlite::Result<()> {
    let components = vector.values.iter();
    let bytes: Vec<u8> = components.flat_map(|value| value.to_le_bytes()).collect();
    let nanoseconds = i64::try_from(vector.took.as_nanos()).unwrap_or(i64::MAX);
    let cut = vector.cut.map(i64::from);
    let digest = digest(key, nanoseconds, &bytes, cut);
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO vectors (key, model, stored_at, nanoseconds, vector, digest, cut)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    statement.execute(params![
        key.as_bytes(),
        model,
        now(),
        nanoseconds,
        bytes,
        digest,
        cut
    ])?;
    Ok(())
}

/// Checks a stored vector, and that it is stored under its own key. That it is unknown whether the text was cut adds nothing, so that
/// rows which were stored before the column was there keep their digest.
fn digest(key: &EmbeddingKey, nanoseconds: i64, bytes: &[u8], cut: Option<i64>) -> [u8; 32] {
    let mut sum = Sha256::new()
        .chain_update(key.as_bytes())
        .chain_update(nanoseconds.to_le_bytes())
        .chain_update(bytes);
    if let Some(cut) = cut {
        sum.update(cut.to_le_bytes());
    }
    sum.finalize().into()
}

/// Reads a vector back to the last bit, unless it is not the one that was stored.
fn decode(
    key: &EmbeddingKey,
    nanoseconds: i64,
    bytes: &[u8],
    cut: Option<i64>,
    sum: &[u8],
) -> Option<StoredVector> {
    if digest(key, nanoseconds, bytes, cut) != sum {
        return None;
    }
    let (components, rest) = bytes.as_chunks();
    rest.is_empty().then(|| StoredVector {
        values: components
            .iter()
            .map(|it| f32::from_le_bytes(*it))
            .collect(),
        took: Duration::from_nanos(nanoseconds.unsigned_abs()),
        cut: cut.map(|cut| cut != 0),
    })
}
