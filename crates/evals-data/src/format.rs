//! The formats of tables, by the extensions of their files.

use std::path::Path;

/// The extensions of all supported formats.
pub(crate) const EXTENSIONS: [&str; 7] = [
    ".parquet",
    ".jsonl",
    ".ndjson",
    ".csv",
    ".jsonl.gz",
    ".ndjson.gz",
    ".csv.gz",
];

/// How a table is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Parquet,
    JsonLines,
    Csv,
}

/// The format of a file by its name, and whether it is gzipped; `None` for an unknown extension.
pub(crate) fn of(name: &str) -> Option<(Format, bool)> {
    let name = name.to_lowercase();
    let (plain, compressed) = match name.strip_suffix(".gz") {
        Some(plain) => (plain, true),
        None => (name.as_str(), false),
    };
    match Path::new(plain).extension()?.to_str()? {
        "parquet" if !compressed => Some((Format::Parquet, false)),
        "jsonl" | "ndjson" => Some((Format::JsonLines, compressed)),
        "csv" => Some((Format::Csv, compressed)),
        _ => None,
    }
}
