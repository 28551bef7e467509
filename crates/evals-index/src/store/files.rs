//! Checking a table's files against their record, in a store that is a folder.

use std::path::PathBuf;

use tokio::task;

use super::Store;
use super::file_record::{FileError, FileRecord};
use crate::error::IndexError;
use crate::header::Completion;

/// How much of a table's files to compare with their record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Names and sizes, and the contents of the manifests that list the table's files.
    Versions,
    /// The contents of all files.
    Contents,
}

/// The result of comparing a table's files with their record. A difference is an error instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileCheck {
    /// They match the record.
    Passed,
    /// The record or the table does not exist.
    NoRecord,
    /// The store is not a folder.
    NotLocal,
}

impl FileCheck {
    /// Whether a table with this result and this `completion` is finished.
    pub(crate) fn completes(self, completion: &Completion) -> bool {
        !completion.files_recorded || self != Self::NoRecord
    }
}

impl Store {
    /// Compares the files of a table with their record.
    pub(crate) async fn check(&self, name: &str, depth: Depth) -> Result<FileCheck, IndexError> {
        let Some(folder) = self.table_folder(name) else {
            return Ok(FileCheck::NotLocal);
        };
        let checked = task::spawn_blocking(move || {
            let Some(record) = FileRecord::read(&folder)? else {
                return Ok(FileCheck::NoRecord);
            };
            match depth {
                Depth::Versions => record.check_versions(&folder)?,
                Depth::Contents => record.check(&folder)?,
            }
            Ok(FileCheck::Passed)
        });
        checked.await?.map_err(|error| self.file_error(name, error))
    }

    /// Writes the record of a finished table's files, if the store is a folder. The caller holds the lock.
    pub(crate) async fn record_files(&self, name: &str) -> Result<(), IndexError> {
        let Some(folder) = self.table_folder(name) else {
            return Ok(());
        };
        let recorded = task::spawn_blocking(move || FileRecord::take(&folder)?.write(&folder));
        recorded
            .await?
            .map_err(|error| self.file_error(name, error))
    }

    /// Whether tables of this store have a record of their files. Object stores verify their data themselves.
    pub(crate) fn records_files(&self) -> bool {
        self.location.folder().is_some()
    }

    fn table_folder(&self, name: &str) -> Option<PathBuf> {
        let folder = self.location.folder()?;
        Some(folder.join(format!("{name}.lance")))
    }

    fn file_error(&self, name: &str, error: FileError) -> IndexError {
        let table = self.address(name);
        match error {
            FileError::Defect(defect) => IndexError::Damaged { table, defect },
            FileError::Unreadable { path, source } => IndexError::File {
                table,
                path,
                source,
            },
        }
    }
}
