//! Reading the rows of tables in several formats: only the requested columns, a few megabytes at a time.

mod csv_rows;
mod json_document;
mod json_lines;
mod json_objects;
mod parquet_rows;
mod text_file;
mod values;

use std::fs::File;
use std::io::{BufReader, Chain, Cursor, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use evals_guard::csv;
use flate2::read::MultiGzDecoder;
use serde_json::Value;

pub use parquet_rows::parquet_objects;

use crate::error::{DataError, Place, quoted};
use crate::format::{self, TableFormat};
use crate::manifest::Column;

/// The most bytes of one row of text. Otherwise a file without line ends, or with a quote that is never closed, would be loaded into
/// memory as a whole, and a compressed file can be many times larger than it looks.
const ROW_LIMIT: usize = 128 << 20;

/// A text file from its beginning, without a byte order mark.
type Text = Chain<Cursor<Vec<u8>>, BufReader<Box<dyn Read + Send>>>;

/// A table's file.
#[derive(Debug, Clone)]
pub(crate) struct TableFile {
    /// Its name in messages; the extension tells the format.
    pub(crate) name: String,
    /// Its path below the folder that the manifest names, with slashes.
    pub(crate) uri: String,
    pub(crate) content: FileContent,
}

/// Where a file's bytes are.
#[derive(Debug, Clone)]
pub(crate) enum FileContent {
    OnDisk(PathBuf),
    /// In the hub cache, so that it can be downloaded again.
    Cached(PathBuf),
    InMemory(Bytes),
}

impl FileContent {
    /// The file on disk; `None` in memory.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::OnDisk(path) | Self::Cached(path) => Some(path),
            Self::InMemory(_) => None,
        }
    }
}

/// One row: the values of the requested columns in the order of the request; a missing value is null.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) place: Place,
    pub(crate) cells: Vec<Value>,
}

/// The rows of one file, up to the first error.
pub(crate) type Rows = Box<dyn Iterator<Item = Result<Row, DataError>> + Send>;

impl TableFile {
    /// Opens the file and checks that it has the columns.
    pub(crate) fn rows(&self, columns: &[Column]) -> Result<Rows, DataError> {
        let unknown = || {
            let known = format::EXTENSIONS;
            let problem = format!("has an unknown format: the known extensions are {known}");
            DataError::file(&self.name, problem)
        };
        let rows = match format::of(&self.name).ok_or_else(unknown)? {
            (TableFormat::Parquet, _) => parquet_rows::rows(self, columns),
            (TableFormat::JsonLines, compressed) => json_lines::rows(self, columns, compressed),
            (TableFormat::Json, compressed) => json_document::rows(self, columns, compressed),
            (TableFormat::Text(format), _) => Ok(text_file::rows(self, columns, format)),
            (TableFormat::Csv, compressed) => csv_rows::rows(self, columns, compressed),
        }?;
        // After an error the reader may return anything.
        let mut rows = Some(rows);
        Ok(Box::new(std::iter::from_fn(move || {
            let next = rows.as_mut()?.next();
            if !matches!(next, Some(Ok(_))) {
                rows = None;
            }
            next
        })))
    }

    /// The text of the file, decompressed.
    fn text(&self, compressed: bool) -> Result<Text, DataError> {
        let raw: Box<dyn Read + Send> = match &self.content {
            FileContent::OnDisk(path) | FileContent::Cached(path) => {
                Box::new(File::open(path).map_err(|source| self.unreadable(source))?)
            }
            FileContent::InMemory(bytes) => Box::new(Cursor::new(bytes.clone())),
        };
        let text: Box<dyn Read + Send> = if compressed {
            Box::new(MultiGzDecoder::new(raw))
        } else {
            raw
        };
        let text = BufReader::with_capacity(1 << 16, text);
        csv::without_mark(text).map_err(|source| self.unreadable(source))
    }

    fn unreadable(&self, source: std::io::Error) -> DataError {
        DataError::Unreadable {
            file: self.name.clone(),
            source,
        }
    }

    /// The error about a missing column. It lists the columns of the file. `separated` names the separator of a CSV file.
    fn missing(&self, column: &Column, columns: &[String], separated: &str) -> DataError {
        let has = match columns {
            [] => "it has no columns".to_owned(),
            columns => format!("its columns are {}", quoted(columns)),
        };
        let problem = format!("has no column `{}`; {has}{separated}", column.path());
        DataError::file(&self.name, problem)
    }
}

#[cfg(test)]
mod tests;
