use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use super::error::{PATIENCE, ReplyStoreError};
use super::{ModelReplies, Prune, Pruned, ReplyKey, ReplyStoreStatistics};
use crate::ChatReply;

/// Marks the file as one of replies in `SQLite`'s header: `EvRp`.
const APPLICATION: i64 = 0x4576_5270;
/// The format of the tables.
const FORMAT: i64 = 1;
const SCHEMA: &str = "
    CREATE TABLE replies (
        key BLOB NOT NULL UNIQUE,
        model TEXT NOT NULL,
        stored_at INTEGER NOT NULL,
        reply TEXT NOT NULL,
        digest BLOB NOT NULL
    ) STRICT";

type Result<T, E = ReplyStoreError> = std::result::Result<T, E>;

/// The file of replies, used by one thread at a time.
#[derive(Debug)]
pub(super) struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Opens the file, or makes it with its folder.
    pub(super) fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| ReplyStoreError::Folder {
                path: folder.to_owned(),
                source,
            })?;
        }
        let mut database = Self {
            connection: Connection::open(path).map_err(|error| ReplyStoreError::of(path, error))?,
            path: path.to_owned(),
        };
        database.prepare()?;
        Ok(database)
    }

    /// The reply under a key. One that is not what was stored is none, so that it is asked for and stored anew.
    pub(super) fn get(&self, key: &ReplyKey) -> Result<Option<ChatReply>> {
        let stored = self
            .connection
            .prepare_cached("SELECT reply, digest FROM replies WHERE key = ?1")
            .and_then(|mut statement| {
                statement
                    .query_row([key.as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()
            });
        let stored: Option<(String, Vec<u8>)> = stored.map_err(|error| self.error(error))?;
        Ok(stored.and_then(|(reply, sum)| decode(key, &reply, &sum)))
    }

    /// Stores a reply in place of what was stored under the key. When it returns, the reply outlives the process.
    pub(super) fn put(&self, key: &ReplyKey, model: &str, reply: &ChatReply) -> Result<()> {
        let reply = serde_json::to_string(reply).map_err(|source| ReplyStoreError::Database {
            path: self.path.clone(),
            source: Box::new(source),
        })?;
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO replies (key, model, stored_at, reply, digest) VALUES (?1, ?2, ?3, ?4, ?5)",
            )
            .and_then(|mut statement| {
                let digest = digest(key, &reply);
                statement.execute(params![key.as_bytes(), model, now(), reply, digest])
            })
            .map_err(|error| self.error(error))?;
        Ok(())
    }

    pub(super) fn statistics(&self) -> Result<ReplyStoreStatistics> {
        self.read_statistics().map_err(|error| self.error(error))
    }

    /// Removes replies and gives the room back to the file system.
    pub(super) fn prune(&self, prune: &Prune) -> Result<Pruned> {
        self.remove(prune).map_err(|error| self.error(error))
    }

    /// Makes the tables of an empty file and refuses one that is not ours before anything in it is changed.
    fn prepare(&mut self) -> Result<()> {
        let path = self.path.clone();
        let broken = |error| ReplyStoreError::of(&path, error);
        self.connection.busy_timeout(PATIENCE).map_err(broken)?;
        if is_empty(&self.connection).map_err(broken)? {
            create(&mut self.connection).map_err(broken)?;
        }
        self.check_format()?;
        write_ahead(&self.connection).map_err(broken)
    }

    fn check_format(&self) -> Result<()> {
        let header = |name| {
            pragma(&self.connection, name).map_err(|error| ReplyStoreError::of(&self.path, error))
        };
        if header("application_id")? != APPLICATION {
            return Err(ReplyStoreError::Foreign {
                path: self.path.clone(),
            });
        }
        match header("user_version")? {
            FORMAT => Ok(()),
            found => Err(ReplyStoreError::Format {
                path: self.path.clone(),
                found,
                supported: FORMAT,
            }),
        }
    }

    fn read_statistics(&self) -> rusqlite::Result<ReplyStoreStatistics> {
        let (entries, oldest, newest) = self.connection.query_row(
            "SELECT count(*), min(stored_at), max(stored_at) FROM replies",
            [],
            |row| Ok((number(row, 0)?, row.get(1)?, row.get(2)?)),
        )?;
        let mut statement = self.connection.prepare(
            "SELECT model, count(*), sum(length(CAST(reply AS BLOB))) FROM replies GROUP BY model",
        )?;
        let models = statement
            .query_map([], |row| {
                let (entries, bytes) = (number(row, 1)?, number(row, 2)?);
                Ok((row.get(0)?, ModelReplies { entries, bytes }))
            })?
            .collect::<rusqlite::Result<_>>()?;
        Ok(ReplyStoreStatistics {
            entries,
            bytes: size(&self.connection)?,
            oldest: moment(oldest),
            newest: moment(newest),
            models,
        })
    }

    fn remove(&self, prune: &Prune) -> rusqlite::Result<Pruned> {
        let before = size(&self.connection)?;
        let removed = match prune {
            Prune::All => self.connection.execute("DELETE FROM replies", [])?,
            Prune::OlderThan(age) => self.connection.execute(
                "DELETE FROM replies WHERE stored_at < ?1",
                [now().saturating_sub(milliseconds(*age))],
            )?,
            Prune::Model(model) => self
                .connection
                .execute("DELETE FROM replies WHERE model = ?1", [model])?,
        };
        self.connection
            .execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
        Ok(Pruned {
            entries: removed as u64,
            bytes: before.saturating_sub(size(&self.connection)?),
        })
    }

    fn error(&self, error: rusqlite::Error) -> ReplyStoreError {
        ReplyStoreError::of(&self.path, error)
    }
}

/// Whether nothing was ever written to the file.
fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0 && pragma(connection, "application_id")? == 0)
}

/// Makes the tables, unless another process was faster.
fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if is_empty(&transaction)? {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    transaction.commit()
}

/// Has changes go to a log first: readers and one writer do not wait for each other, and what was committed survives the end
/// of the process, however it ends. A power failure may take the last commits, never the file.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let patience = Instant::now() + PATIENCE;
    // SQLite does not wait by itself for the lock that the change to the log takes once in the life of a file.
    loop {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < patience =>
            {
                thread::sleep(Duration::from_millis(10));
            }
            done => break done?,
        }
    }
    connection.pragma_update(None, "synchronous", "normal")
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

fn size(connection: &Connection) -> rusqlite::Result<u64> {
    let pages = pragma(connection, "page_count")?;
    Ok((pages * pragma(connection, "page_size")?).unsigned_abs())
}

/// A count or a sum of lengths, which `SQLite` has as a signed number.
fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(i64::unsigned_abs)
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

/// Milliseconds since 1970.
fn now() -> i64 {
    milliseconds(
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default(),
    )
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn moment(milliseconds: Option<i64>) -> Option<SystemTime> {
    let since = Duration::from_millis(u64::try_from(milliseconds?).ok()?);
    UNIX_EPOCH.checked_add(since)
}
