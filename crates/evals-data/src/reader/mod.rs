//! Rows of tables in several formats, reduced to the columns that are needed, a few megabytes at a time.

mod csv_rows;
mod json_lines;
mod parquet_rows;
mod position;
mod values;

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use serde_json::Value;

use crate::error::{DataError, Place};
use crate::manifest::Column;

/// The extensions of the formats that are read.
pub(crate) const EXTENSIONS: [&str; 7] = [
    ".parquet",
    ".jsonl",
    ".ndjson",
    ".csv",
    ".jsonl.gz",
    ".ndjson.gz",
    ".csv.gz",
];

/// A table's file.
#[derive(Debug, Clone)]
pub(crate) struct TableFile {
    /// What messages call it; its extension tells the format.
    pub(crate) name: String,
    pub(crate) content: Content,
}

/// Where a file's bytes are.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    OnDisk(PathBuf),
    /// In the hub cache, from where it may be fetched again.
    Cached(PathBuf),
    Bundled(&'static [u8]),
}

/// One row: the wanted columns' values in the order they were asked for; a missing value is null.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) place: Place,
    pub(crate) cells: Vec<Value>,
}

/// The rows of one file.
pub(crate) type Rows = Box<dyn Iterator<Item = Result<Row, DataError>> + Send>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Parquet,
    JsonLines,
    Csv,
}

impl TableFile {
    /// Opens the file, and checks that it has the columns.
    pub(crate) fn rows(&self, columns: &[Column]) -> Result<Rows, DataError> {
        match self.format()? {
            (Format::Parquet, _) => parquet_rows::rows(self, columns),
            (Format::JsonLines, compressed) => json_lines::rows(self, columns, compressed),
            (Format::Csv, compressed) => csv_rows::rows(self, columns, compressed),
        }
    }

    /// The format, and whether it is gzipped.
    fn format(&self) -> Result<(Format, bool), DataError> {
        let name = self.name.to_lowercase();
        let (plain, compressed) = match name.strip_suffix(".gz") {
            Some(plain) => (plain, true),
            None => (name.as_str(), false),
        };
        let extension = Path::new(plain)
            .extension()
            .and_then(|extension| extension.to_str());
        match extension {
            Some("parquet") if !compressed => Ok((Format::Parquet, false)),
            Some("jsonl" | "ndjson") => Ok((Format::JsonLines, compressed)),
            Some("csv") => Ok((Format::Csv, compressed)),
            _ => Err(DataError::UnknownFormat {
                file: self.name.clone(),
            }),
        }
    }

    /// The text of the file, decompressed.
    fn reader(&self, compressed: bool) -> Result<BufReader<Box<dyn Read + Send>>, DataError> {
        let raw: Box<dyn Read + Send> = match &self.content {
            Content::OnDisk(path) | Content::Cached(path) => {
                Box::new(File::open(path).map_err(|source| self.unreadable(source))?)
            }
            Content::Bundled(bytes) => Box::new(Cursor::new(*bytes)),
        };
        let text: Box<dyn Read + Send> = if compressed {
            Box::new(MultiGzDecoder::new(raw))
        } else {
            raw
        };
        Ok(BufReader::with_capacity(1 << 16, text))
    }

    fn unreadable(&self, source: std::io::Error) -> DataError {
        DataError::Unreadable {
            file: self.name.clone(),
            source,
        }
    }

    fn missing(&self, column: &Column, columns: Vec<String>) -> DataError {
        DataError::MissingColumn {
            file: self.name.clone(),
            column: column.path(),
            columns,
        }
    }
}

fn shared(bytes: &'static [u8]) -> Bytes {
    Bytes::from_static(bytes)
}

#[cfg(test)]
mod tests;
