use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, Row, TransactionBehavior};

use super::error::{LITTLE_PATIENCE, PATIENCE};
use super::moment::{milliseconds, moment, now};
use super::{ModelEntries, Prune, Pruned, Result, StoreError, StoreStatistics};

/// What distinguishes one kind of store from another.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Marks the file in `SQLite`'s header.
    pub(crate) application: i64,
    /// The format of the table.
    pub(crate) format: i64,
    /// What makes the table.
    pub(crate) schema: &'static str,
    /// Columns that files of earlier versions lack, with their types. What is in them may be null.
    pub(crate) added: &'static [(&'static str, &'static str)],
    /// Its name. It has the columns `key`, `model` and `stored_at`, and that of [`content`](Self::content).
    pub(crate) table: &'static str,
    /// The column of what is stored.
    pub(crate) content: &'static str,
    /// What an error says that is stored.
    pub(crate) holds: &'static str,
}

/// A store's file, used by one thread at a time.
#[derive(Debug)]
pub(crate) struct File {
    connection: Connection,
    path: PathBuf,
    kind: &'static Kind,
    /// How long an access waits for a lock.
    patience: Duration,
}

impl File {
    /// Opens the file, or makes it with its folder.
    pub(super) fn open(path: &Path, kind: &'static Kind) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| StoreError::Folder {
                path: folder.to_owned(),
                source,
            })?;
        }
        check_place(path)?;
        let mut file = Self {
            connection: Connection::open(path).map_err(|error| StoreError::of(path, error))?,
            path: path.to_owned(),
            kind,
            patience: PATIENCE,
        };
        file.prepare()?;
        Ok(file)
    }

    /// Reads or writes, and names the file where that fails.
    pub(crate) fn with<T>(
        &mut self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let done = work(&mut self.connection).map_err(|error| StoreError::of(&self.path, error));
        let patience = match &done {
            Err(StoreError::Locked { .. }) => LITTLE_PATIENCE,
            _ => PATIENCE,
        };
        if patience != self.patience && self.connection.busy_timeout(patience).is_ok() {
            self.patience = patience;
        }
        done
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn statistics(&mut self) -> Result<StoreStatistics> {
        let kind = self.kind;
        self.with(|connection| read_statistics(connection, kind))
    }

    /// Removes entries and gives the room back to the file system.
    pub(super) fn prune(&mut self, prune: &Prune) -> Result<Pruned> {
        let kind = self.kind;
        self.with(|connection| remove(connection, kind, prune))
    }

    /// Makes the table of an empty file and refuses one that is not ours before anything in it is changed.
    fn prepare(&mut self) -> Result<()> {
        let kind = self.kind;
        self.with(|connection| {
            connection.busy_timeout(PATIENCE)?;
            if is_empty(connection)? {
                create(connection, kind)?;
            }
            Ok(())
        })?;
        self.check_format()?;
        self.with(|connection| write_ahead(connection))?;
        self.with(|connection| add_columns(connection, kind))
    }

    fn check_format(&mut self) -> Result<()> {
        if self.with(|connection| pragma(connection, "application_id"))? != self.kind.application {
            return Err(StoreError::Foreign {
                path: self.path.clone(),
                holds: self.kind.holds,
            });
        }
        let found = self.with(|connection| pragma(connection, "user_version"))?;
        if found == self.kind.format {
            return Ok(());
        }
        Err(StoreError::Format {
            path: self.path.clone(),
            found,
            supported: self.kind.format,
        })
    }
}

/// Refuses what the database would wait for without end, or complain about in words of its own.
fn check_place(path: &Path) -> Result<()> {
    let found = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => "a folder",
        Ok(metadata) if !metadata.is_file() => "a pipe or a device",
        // What cannot be looked at cannot be opened either, and then the reason is told.
        Ok(_) | Err(_) => return Ok(()),
    };
    let path = path.to_owned();
    Err(StoreError::NoFile { path, found })
}

/// Whether nothing was ever written to the file.
fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0 && pragma(connection, "application_id")? == 0)
}

/// Makes the table, unless another process was faster.
fn create(connection: &mut Connection, kind: &Kind) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if is_empty(&transaction)? {
        transaction.execute_batch(kind.schema)?;
        transaction.pragma_update(None, "application_id", kind.application)?;
        transaction.pragma_update(None, "user_version", kind.format)?;
    }
    transaction.commit()
}

/// Adds the columns that an earlier version made the table without, unless another process was faster.
fn add_columns(connection: &mut Connection, kind: &Kind) -> rusqlite::Result<()> {
    let is_there =
        |connection: &Connection, column| connection.column_exists(None, kind.table, column);
    for (column, declared) in kind.added {
        if is_there(connection, *column)? {
            continue;
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if !is_there(&transaction, *column)? {
            let table = kind.table;
            let add = format!("ALTER TABLE {table} ADD COLUMN {column} {declared}");
            transaction.execute_batch(&add)?;
        }
        transaction.commit()?;
    }
    Ok(())
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

fn read_statistics(connection: &Connection, kind: &Kind) -> rusqlite::Result<StoreStatistics> {
    let Kind { table, content, .. } = kind;
    let (entries, oldest, newest) = connection.query_row(
        &format!("SELECT count(*), min(stored_at), max(stored_at) FROM {table}"),
        [],
        |row| Ok((number(row, 0)?, row.get(1)?, row.get(2)?)),
    )?;
    let mut statement = connection.prepare(&format!(
        "SELECT model, count(*), sum(length(CAST({content} AS BLOB))) FROM {table} GROUP BY model"
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

fn remove(connection: &Connection, kind: &Kind, prune: &Prune) -> rusqlite::Result<Pruned> {
    let table = kind.table;
    let before = size(connection)?;
    let removed = match prune {
        Prune::All => connection.execute(&format!("DELETE FROM {table}"), [])?,
        Prune::OlderThan(age) => connection.execute(
            &format!("DELETE FROM {table} WHERE stored_at < ?1"),
            [now().saturating_sub(milliseconds(*age))],
        )?,
        Prune::Model(model) => {
            connection.execute(&format!("DELETE FROM {table} WHERE model = ?1"), [model])?
        }
    };
    connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(Pruned {
        entries: removed as u64,
        bytes: before.saturating_sub(size(connection)?),
    })
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
