//! The formats of tables, by the extensions of their files.

use std::path::Path;

/// The extensions of all supported formats, tables first.
pub(crate) const EXTENSIONS: &str = ".parquet, .jsonl, .ndjson, .json, .csv, .tsv, .jsonl.gz, .ndjson.gz, .json.gz, .csv.gz, \
    .tsv.gz, .md, .markdown, .txt, .text, .html, .htm";

/// How a table is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableFormat {
    Parquet,
    JsonLines,
    Json,
    Csv,
    Text(TextFormat),
}

/// How a text is marked up. A file of such a format is one document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextFormat {
    Plain,
    Markdown,
    Html,
}

/// Whether a file is a text, which is one document, and not a table.
pub(crate) fn is_text(name: &str) -> bool {
    matches!(of(name), Some((TableFormat::Text(_), _)))
}

/// What a file is that has to be converted before it can be read, and a program that does so; `None` for other files.
pub(crate) fn to_convert(name: &str) -> Option<(&'static str, &'static str)> {
    let extension = Path::new(name).extension()?.to_str()?.to_lowercase();
    match extension.as_str() {
        "pdf" => Some(("a PDF", "pdftotext")),
        "doc" | "docx" => Some(("a Word file", "soffice --convert-to txt")),
        _ => None,
    }
}

/// The format of a file by its name, and whether it is gzipped; `None` for an unknown extension.
pub(crate) fn of(name: &str) -> Option<(TableFormat, bool)> {
    let name = name.to_lowercase();
    let (plain, compressed) = match name.strip_suffix(".gz") {
        Some(plain) => (plain, true),
        None => (name.as_str(), false),
    };
    match Path::new(plain).extension()?.to_str()? {
        "parquet" if !compressed => Some((TableFormat::Parquet, false)),
        "jsonl" | "ndjson" => Some((TableFormat::JsonLines, compressed)),
        "json" => Some((TableFormat::Json, compressed)),
        "csv" | "tsv" => Some((TableFormat::Csv, compressed)),
        "md" | "markdown" if !compressed => Some((TableFormat::Text(TextFormat::Markdown), false)),
        "html" | "htm" if !compressed => Some((TableFormat::Text(TextFormat::Html), false)),
        "txt" | "text" if !compressed => Some((TableFormat::Text(TextFormat::Plain), false)),
        _ => None,
    }
}
