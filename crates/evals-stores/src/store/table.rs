//! The SQL of stores: entries by key, statistics, removal.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, ToSql, TransactionBehavior};
use sha2::{Digest, Sha256};

use super::entry::{EntryKey, StoreTable, StoredEntry};
use super::error::StoreError;
use super::file::{File, pragma};

/// The entries under some keys, in the order of the keys. A damaged entry counts as missing.
pub(super) fn get<E: StoredEntry>(
    file: &mut File,
    keys: &[EntryKey],
) -> Result<Vec<Option<E>>, StoreError> {
    let columns = E::TABLE.own();
    let select = format!(
        "SELECT {}, digest FROM {} WHERE key = ?1",
        columns.join(", "),
        E::TABLE.name
    );
    file.with(|connection| {
        // One transaction locks the file once for all keys.
        let transaction = connection.transaction()?;
        let mut statement = transaction.prepare_cached(&select)?;
        let entries = keys.iter().map(|key| read(&mut statement, key));
        entries.collect()
    })
}

/// Stores entries of a model, all or none, replacing those under the same keys. When it returns, they outlive the process.
pub(super) fn put<E: StoredEntry>(
    file: &mut File,
    model: &str,
    entries: &[(EntryKey, E)],
) -> Result<(), StoreError> {
    let columns = E::TABLE.own();
    let insert = format!(
        "INSERT OR REPLACE INTO {} (key, model, stored_at, digest, {}) VALUES (?1, ?2, ?3, ?4{})",
        E::TABLE.name,
        columns.join(", "),
        ", ?".repeat(columns.len())
    );
    file.with(|connection| {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut statement = transaction.prepare_cached(&insert)?;
        for (key, entry) in entries {
            write(&mut statement, model, key, entry)?;
        }
        drop(statement);
        transaction.commit()
    })
}

/// `SQLite` notices a missing page, but not one whose content was overwritten. The digest notices that.
fn read<E: StoredEntry>(
    statement: &mut CachedStatement<'_>,
    key: &EntryKey,
) -> rusqlite::Result<Option<E>> {
    let found = statement.query_row([key.as_ref()], |row| {
        let columns: rusqlite::Result<Vec<Value>> =
            (0..E::TABLE.own().len()).map(|own| row.get(own)).collect();
        Ok((columns?, row.get::<_, Vec<u8>>("digest")?))
    });
    let found = found.optional()?;
    let intact = found.filter(|(columns, stated)| digest::<E>(key, columns) == stated.as_slice());
    Ok(intact.and_then(|(columns, _)| E::from_columns(columns)))
}

fn write<E: StoredEntry>(
    statement: &mut CachedStatement<'_>,
    model: &str,
    key: &EntryKey,
    entry: &E,
) -> rusqlite::Result<()> {
    let columns = entry.to_columns()?;
    let (key_bytes, stored_at, digest) = (key.as_ref(), now(), digest::<E>(key, &columns));
    let mut values: Vec<&dyn ToSql> = vec![&key_bytes, &model, &stored_at, &digest];
    values.extend(columns.iter().map(|value| value as &dyn ToSql));
    statement.execute(values.as_slice())?;
    Ok(())
}

/// Covers the key too, so that an entry under another key counts as damaged.
///
/// A null counts as -1, which no known number is. In a column that was added later it counts as nothing, so that rows from before the column
/// existed keep their digest.
fn digest<E: StoredEntry>(key: &EntryKey, columns: &[Value]) -> [u8; 32] {
    let mut digest = Sha256::new().chain_update(key.as_ref());
    for (place, column) in columns.iter().enumerate() {
        match column {
            Value::Null if place < E::TABLE.columns.len() => digest.update((-1_i64).to_le_bytes()),
            Value::Null => {}
            Value::Integer(number) => digest.update(number.to_le_bytes()),
            Value::Real(number) => digest.update(number.to_le_bytes()),
            Value::Text(text) => digest.update(text),
            Value::Blob(bytes) => digest.update(bytes),
        }
    }
    digest.finalize().into()
}

/// Counts the entries of the table.
pub(super) fn statistics(
    connection: &Connection,
    table: &StoreTable,
) -> rusqlite::Result<StoreStatistics> {
    let StoreTable { name, content, .. } = table;
    let (entries, oldest, newest) = connection.query_row(
        &format!("SELECT count(*), min(stored_at), max(stored_at) FROM {name}"),
        [],
        |row| Ok((number(row, 0)?, row.get(1)?, row.get(2)?)),
    )?;
    let mut statement = connection.prepare(&format!(
        "SELECT model, count(*), sum(length(CAST({content} AS BLOB))) FROM {name} GROUP BY model"
    ))?;
    let models = statement
        .query_map([], |row| {
            let (entries, bytes) = (number(row, 1)?, number(row, 2)?);
            Ok((row.get(0)?, ModelEntries { entries, bytes }))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(StoreStatistics {
        entries,
        bytes: size(connection)?,
        oldest: moment(oldest),
        newest: moment(newest),
        models,
    })
}

/// Removes entries and returns their space to the file system.
pub(super) fn prune(
    connection: &Connection,
    table: &StoreTable,
    prune: &Prune,
) -> rusqlite::Result<Pruned> {
    let name = table.name;
    let before = size(connection)?;
    let removed = match prune {
        Prune::All => connection.execute(&format!("DELETE FROM {name}"), [])?,
        Prune::OlderThan(age) => connection.execute(
            &format!("DELETE FROM {name} WHERE stored_at < ?1"),
            [now().saturating_sub(milliseconds(*age))],
        )?,
        Prune::Model(model) => {
            connection.execute(&format!("DELETE FROM {name} WHERE model = ?1"), [model])?
        }
    };
    connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(Pruned {
        entries: removed as u64,
        bytes: before.saturating_sub(size(connection)?),
    })
}

fn size(connection: &Connection) -> rusqlite::Result<u64> {
    let pages = pragma(connection, "page_count")?;
    Ok((pages * pragma(connection, "page_size")?).unsigned_abs())
}

/// A count or a sum of lengths. `SQLite` has only signed numbers.
fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(i64::unsigned_abs)
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    milliseconds(since.unwrap_or_default())
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn moment(milliseconds: Option<i64>) -> Option<SystemTime> {
    let since = Duration::from_millis(u64::try_from(milliseconds?).ok()?);
    UNIX_EPOCH.checked_add(since)
}

/// The contents of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreStatistics {
    /// Number of entries.
    pub entries: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// When the oldest entry was stored; `None` if the store is empty.
    pub oldest: Option<SystemTime>,
    /// When the newest entry was stored; `None` if the store is empty.
    pub newest: Option<SystemTime>,
    /// Entries of each model, by the label under which they were stored: `provider:name` unless another was chosen.
    pub models: BTreeMap<String, ModelEntries>,
}

/// The entries of one model in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelEntries {
    /// Number of entries.
    pub entries: u64,
    /// Size of their content in bytes. The file needs more than that.
    pub bytes: u64,
}

/// Which entries to remove from a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prune {
    /// All of them.
    All,
    /// Those stored longer ago than this.
    OlderThan(Duration),
    /// Those of a model, by its label in [`StoreStatistics::models`].
    Model(String),
}

/// The result of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Number of entries removed.
    pub entries: u64,
    /// By how many bytes the file shrank.
    pub bytes: u64,
}
