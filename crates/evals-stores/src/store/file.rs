//! Opening a store's file, and using its connection.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use evals_guard::regular_file::other_kind;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::entry::StoreTable;
use super::error::{PATIENCE, SHORT_PATIENCE, StoreError};

type Result<T, E = StoreError> = std::result::Result<T, E>;

/// The file of a store, used by one thread at a time.
#[derive(Debug)]
pub(crate) struct File {
    connection: Connection,
    path: PathBuf,
    table: &'static StoreTable,
    /// How long an access waits for a lock of another process.
    patience: Duration,
}

impl File {
    /// Opens the file, or creates it and its folder.
    pub(super) fn open(path: &Path, table: &'static StoreTable) -> Result<Self> {
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
            table,
            patience: PATIENCE,
        };
        file.prepare()?;
        Ok(file)
    }

    /// Reads or writes the file. Errors name it.
    pub(crate) fn with<T>(
        &mut self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T> {
        let done = work(&mut self.connection).map_err(|error| StoreError::of(&self.path, error));
        let patience = match &done {
            Err(StoreError::Locked { .. }) => SHORT_PATIENCE,
            _ => PATIENCE,
        };
        if patience != self.patience && self.connection.busy_timeout(patience).is_ok() {
            self.patience = patience;
        }
        done
    }

    /// Creates the table of an empty file. Refuses any other file that is not a store of this kind before changing it.
    fn prepare(&mut self) -> Result<()> {
        let table = self.table;
        self.with(|connection| {
            connection.busy_timeout(PATIENCE)?;
            if is_empty(connection)? {
                create(connection, table)?;
            }
            Ok(())
        })?;
        self.check_format()?;
        self.with(|connection| write_ahead(connection))?;
        self.with(|connection| add_columns(connection, table))
    }

    fn check_format(&mut self) -> Result<()> {
        if self.with(|connection| pragma(connection, "application_id"))? != self.table.application {
            return Err(StoreError::Foreign {
                path: self.path.clone(),
                holds: self.table.name,
            });
        }
        let found = self.with(|connection| pragma(connection, "user_version"))?;
        if found == self.table.format {
            return Ok(());
        }
        Err(StoreError::Format {
            path: self.path.clone(),
            found,
            supported: self.table.format,
        })
    }
}

/// Refuses folders, pipes and devices. `SQLite` would wait for some of them for ever.
fn check_place(path: &Path) -> Result<()> {
    // If the metadata cannot be read, opening the file fails with the reason.
    let metadata = std::fs::metadata(path).ok();
    match metadata.as_ref().and_then(other_kind) {
        None => Ok(()),
        Some(found) => Err(StoreError::NoFile {
            path: path.to_owned(),
            found,
        }),
    }
}

/// Whether nothing has been written to the file yet.
fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(tables == 0 && pragma(connection, "application_id")? == 0)
}

/// Creates the table, unless another process was faster.
fn create(connection: &mut Connection, table: &StoreTable) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if is_empty(&transaction)? {
        transaction.execute_batch(&table.schema())?;
        transaction.pragma_update(None, "application_id", table.application)?;
        transaction.pragma_update(None, "user_version", table.format)?;
    }
    transaction.commit()
}

/// Adds the columns that an earlier version created the table without, unless another process was faster.
fn add_columns(connection: &mut Connection, table: &StoreTable) -> rusqlite::Result<()> {
    let exists =
        |connection: &Connection, name: &str| connection.column_exists(None, table.name, name);
    for (name, declared) in table.added {
        if exists(connection, name)? {
            continue;
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if !exists(&transaction, name)? {
            let add = format!("ALTER TABLE {} ADD COLUMN {name} {declared}", table.name);
            transaction.execute_batch(&add)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

/// Switches to a write-ahead log. Readers and one writer then do not wait for each other, and a commit survives the process,
/// however it ends. A power failure may lose the last commits but never damages the file.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let patience = Instant::now() + PATIENCE;
    // The switch happens once in the life of a file. SQLite does not wait for the lock that it needs.
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

/// The value of a pragma that is a number.
pub(super) fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}
