//! Why a dataset cannot be read.

mod fault;
mod likely_meaning;
mod place;
mod unknown_document;

use evals_messages::nearest;
use std::path::{Path, PathBuf};

use thiserror::Error;

pub use evals_guard::csv::CsvFault;
pub use fault::{JsonFault, ParquetFailure};
pub use likely_meaning::{LikelyMeaning, Meaning};
pub use place::{Place, Unit};
pub use unknown_document::UnknownDocument;

use crate::format::EXTENSIONS;
use crate::hub::{Damage, HubError};
use likely_meaning::{as_list, shown};

/// Why a dataset cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The hub does not deliver its files.
    #[error("cannot get dataset `{dataset}`{}", nearest::did_you_mean(nearest))]
    Hub {
        /// The dataset's name.
        dataset: String,
        /// Known datasets with a similar name, if the repository does not exist.
        nearest: Vec<String>,
        /// Why not.
        #[source]
        source: Box<HubError>,
    },
    /// The questions do not come in the clusters that the manifest or the command line asks for.
    #[error("cannot put the questions in clusters")]
    Clusters(#[from] evals::GroupError),
    /// A file cannot be opened or read.
    #[error("cannot read `{file}`")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// No file exists where the manifest says.
    #[error("no file matches `{}`", path.display())]
    NoFile {
        /// The path, with the glob if there is one.
        path: PathBuf,
    },
    /// Something that is not a regular file, and may not end or cannot be read twice.
    #[error("`{}` is {kind}; a dataset must consist of regular files, which are read more than once", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The kind of thing at the path, such as `a device`.
        kind: &'static str,
    },
    /// A folder without globs.
    #[error("`{}` is a folder: name its files with `files: [\"*.parquet\"]`", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// Globs for the files in a folder, but the path leads to a file.
    #[error("`{}` is a file, but `files` names files in a folder: remove `files`", path.display())]
    FilesOfFile {
        /// The file.
        path: PathBuf,
    },
    /// An invalid glob.
    #[error("cannot look for files in `{}`", path.display())]
    Glob {
        /// The folder.
        path: PathBuf,
        /// The problem with the glob.
        #[source]
        source: globset::Error,
    },
    /// A file on disk is damaged, or does not have the format that its name says.
    #[error("`{file}` is damaged")]
    Damaged {
        /// The file.
        file: String,
        /// The problem.
        #[source]
        damage: Damage,
    },
    /// The extension stands for no known format.
    #[error("`{file}` has an unknown format: the known extensions are {}", EXTENSIONS.join(", "))]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// The parquet reader failed, perhaps in the middle of the file.
    #[error("`{file}` is not readable parquet{}", how_to_refetch(cached.as_deref()))]
    Parquet {
        /// The file.
        file: String,
        /// Its path in the hub cache, if it is from there.
        cached: Option<PathBuf>,
        /// Why.
        #[source]
        source: ParquetFailure,
    },
    /// A line is not a JSON object.
    #[error("{place}: {fault}")]
    Json {
        /// The line.
        place: Place,
        /// The defect.
        fault: JsonFault,
    },
    /// A row is not valid CSV, or has more or fewer fields than the header.
    #[error("{place}: {fault}")]
    Csv {
        /// The line. For a fault about a quote, the line where it was opened.
        place: Place,
        /// The problem there.
        fault: CsvFault,
    },
    /// Bytes that are not UTF-8 text.
    #[error("{place}: the text is not UTF-8")]
    NotUtf8 {
        /// Where.
        place: Place,
    },
    /// A text file that is too large to be one document.
    #[error(
        "`{file}` is larger than 128 MiB, too large for one document; split it, or leave it out of `files`"
    )]
    TooLarge {
        /// The file.
        file: String,
    },
    /// The front matter of a markdown file is not valid YAML.
    #[error("{place}: the front matter is not valid YAML: {what}")]
    FrontMatter {
        /// The line.
        place: Place,
        /// The problem.
        what: String,
    },
    /// A table among files that are read as one document each.
    #[error(
        "`{file}` is a table, so the manifest has to name its columns: add `uri` and `text` to `documents`"
    )]
    TableWithoutColumns {
        /// The file.
        file: String,
    },
    /// Text files and tables in one `source`.
    #[error(
        "`{text}` is a text and `{table}` is a table; a table of documents consists of one or the other"
    )]
    TextsAndTables {
        /// The first text file.
        text: String,
        /// The first table.
        table: String,
    },
    /// The manifest names a column that the file does not have.
    #[error("`{file}` has no column `{column}`; {}{}", its_columns(columns), separated(*separator))]
    MissingColumn {
        /// The file.
        file: String,
        /// The column as the manifest names it.
        column: String,
        /// The columns of the file.
        columns: Vec<String>,
        /// The character that seems to separate the columns of a CSV file, if it is not the comma.
        separator: Option<char>,
    },
    /// The header has two columns of that name.
    #[error("`{file}` has two columns `{column}`; rename one of them")]
    RepeatedColumn {
        /// The file.
        file: String,
        /// The column as the manifest names it.
        column: String,
    },
    /// A cell does not fit the meaning that the manifest gives its column.
    #[error("{place}: column `{column}` is not {wanted}: {found}")]
    Cell {
        /// Where.
        place: Place,
        /// The column.
        column: String,
        /// The kind of value that the column needs.
        wanted: &'static str,
        /// The cell, truncated.
        found: String,
    },
    /// The metadata of a question has a name that every question uses.
    #[error(
        "{place}: the metadata of a question cannot contain `{name}`, because every question has a fact of that name"
    )]
    ReservedMetadata {
        /// Where.
        place: Place,
        /// The name.
        name: &'static str,
    },
    /// Columns with `[]` have lists of different lengths in one row.
    #[error("{place}: the lists in the columns with `[]` differ in length ({lengths:?})")]
    UnevenLists {
        /// Where.
        place: Place,
        /// The lengths.
        lengths: Vec<usize>,
    },
    /// Two documents have one id.
    #[error("{place}: document id `{id}` occurs twice{}", if *same { "; `deduplicate: true` drops repeated rows" } else { ", with different content; `deduplicate: first` keeps the first" })]
    DuplicateDocument {
        /// The place of the second.
        place: Place,
        /// The id.
        id: String,
        /// Whether both have the same content.
        same: bool,
    },
    /// Two questions have one id.
    #[error("{place}: question id `{id}` occurs twice")]
    DuplicateQuestion {
        /// The place of the second.
        place: Place,
        /// The id.
        id: String,
    },
    /// A pair of question and document has two different grades.
    #[error(
        "{place}: document `{document}` has two grades for question `{query}`: {first} and {second}"
    )]
    ConflictingGrades {
        /// The place of the second.
        place: Place,
        /// The question.
        query: String,
        /// The document.
        document: String,
        /// The earlier grade.
        first: i32,
        /// The later grade.
        second: i32,
    },
    /// The corpus has no documents.
    #[error("dataset `{dataset}` has no documents{}", dropped_all(*rows))]
    EmptyCorpus {
        /// The dataset.
        dataset: String,
        /// Rows read.
        rows: u64,
    },
    /// The dataset has no questions.
    #[error("dataset `{dataset}` has no questions{}", dropped_all(*rows))]
    NoQuestions {
        /// The dataset.
        dataset: String,
        /// Rows read.
        rows: u64,
    },
    /// A cell starts with `[`, but is neither a JSON array nor a document's id.
    #[error(
        "{place}: column `{column}` starts with `[` but is not a JSON array: {}; {}",
        shown(found),
        as_list(ids)
    )]
    NotAList {
        /// Where.
        place: Place,
        /// The column.
        column: String,
        /// The cell.
        found: String,
        /// The ids that the cell seems to mean.
        ids: Vec<String>,
    },
    /// Judgements name documents that are missing from the corpus, or that the corpus drops because they have no text.
    #[error(
        "judgements name {} missing from the corpus or without text there: {}{}{}{}",
        if *count == 1 { "a document".to_owned() } else { format!("{count} documents") },
        quoted(first), if *count > first.len() { ", …" } else { "" },
        likely.as_ref().map(|likely| format!("; {likely}")).unwrap_or_default(),
        named.as_ref().map(|named| format!("; {named}")).unwrap_or_default()
    )]
    UnknownDocuments {
        /// The number of unknown documents.
        count: usize,
        /// The first five, in order.
        first: Vec<String>,
        /// Another reading of one of them that names documents of the corpus.
        likely: Option<Box<LikelyMeaning>>,
        /// The first question that names one of them, unless there is another reading.
        named: Option<Box<UnknownDocument>>,
    },
    /// None of the documents judged relevant is in the corpus.
    #[error(
        "none of the documents judged relevant is in the corpus with a text, so every score would be 0; missing{}: {}{}; \
         judgements must name documents by the ids in `documents.uri`",
        if *count == 1 { String::new() } else { format!(" are {count} documents") },
        quoted(first), if *count > first.len() { ", …" } else { "" },
    )]
    NoRelevantDocument {
        /// The number of missing judged documents.
        count: usize,
        /// The first five, in order.
        first: Vec<String>,
    },
}

fn quoted(names: &[String]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn its_columns(columns: &[String]) -> String {
    if columns.is_empty() {
        "it has no columns".to_owned()
    } else {
        format!("its columns are {}", quoted(columns))
    }
}

fn separated(by: Option<char>) -> String {
    match by {
        Some('\t') => ", separated by tabs".to_owned(),
        Some(separator) => format!(", separated by `{separator}`"),
        None => String::new(),
    }
}

fn how_to_refetch(cached: Option<&Path>) -> String {
    cached.map_or_else(String::new, |path| {
        format!("; delete `{}` to download it again", path.display())
    })
}

fn dropped_all(rows: u64) -> String {
    match rows {
        0 => String::new(),
        1 => ": `where` or an empty text drops its only row".to_owned(),
        rows => format!(": `where` or empty texts drop all of its {rows} rows"),
    }
}
