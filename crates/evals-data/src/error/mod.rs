//! Datasets that cannot be read: the error of everything that reads files.

mod fault;
mod likely_meaning;
mod place;

use std::path::{Path, PathBuf};

use thiserror::Error;

pub use fault::{CsvFault, JsonFault, ParquetFailure};
pub use likely_meaning::{LikelyMeaning, Meaning};
pub use place::{Place, Unit};

use crate::format::EXTENSIONS;
use crate::hub::{Damage, HubError};
use likely_meaning::{as_list, shown};

/// A dataset that cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// Its files cannot be had from the hub.
    #[error("cannot get dataset `{dataset}`{}", did_you_mean(nearest))]
    Hub {
        /// The dataset's name.
        dataset: String,
        /// Known datasets with a similar name, where the repository does not exist.
        nearest: Vec<String>,
        /// Why not.
        #[source]
        source: Box<HubError>,
    },
    /// A file cannot be opened or read.
    #[error("cannot read `{file}`")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// No file is where the manifest says.
    #[error("no file matches `{}`", path.display())]
    NoFile {
        /// The path, with the glob where there is one.
        path: PathBuf,
    },
    /// Something that cannot be read to its end, or not twice.
    #[error("`{}` is {kind}, and a dataset is read from files, more than once", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there.
        kind: &'static str,
    },
    /// A folder without globs.
    #[error("`{}` is a folder: name its files with `files: [\"*.parquet\"]`", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// Globs for the files in a folder that is a file.
    #[error("`{}` is a file, and `files` names files in a folder: leave `files` out", path.display())]
    FilesOfFile {
        /// The file.
        path: PathBuf,
    },
    /// A glob that is not one.
    #[error("cannot look for files in `{}`", path.display())]
    Glob {
        /// The folder.
        path: PathBuf,
        /// What is wrong with the glob.
        #[source]
        source: globset::Error,
    },
    /// A file on disk is not what its name says.
    #[error("`{file}` is damaged")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong.
        #[source]
        damage: Damage,
    },
    /// The extension stands for no known format.
    #[error("`{file}` has no known format: the extensions are {}", EXTENSIONS.join(", "))]
    UnknownFormat {
        /// The file.
        file: String,
    },
    /// The parquet reader gave up, perhaps in the middle of the file.
    #[error("`{file}` is not readable parquet{}", fetched_anew(cached.as_deref()))]
    Parquet {
        /// The file.
        file: String,
        /// Where its bytes are in the hub cache, if it is from there.
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
        /// What is wrong with it.
        fault: JsonFault,
    },
    /// A row is not CSV, or has more or fewer fields than the header.
    #[error("{place}: {fault}")]
    Csv {
        /// The line: where the quote was opened, where it is about one.
        place: Place,
        /// What is wrong there.
        fault: CsvFault,
    },
    /// Bytes that are not UTF-8 text.
    #[error("{place}: the text is not UTF-8")]
    NotUtf8 {
        /// Where.
        place: Place,
    },
    /// The manifest names a column that the file does not have.
    #[error("`{file}` has no column `{column}`; {}{}", there_are(columns), separated(*separator))]
    MissingColumn {
        /// The file.
        file: String,
        /// The column as the manifest names it.
        column: String,
        /// The columns there are.
        columns: Vec<String>,
        /// What seems to separate the columns of a CSV file, where that is not the comma.
        separator: Option<char>,
    },
    /// The header has a column of that name twice.
    #[error("`{file}` has two columns `{column}`; rename one of them")]
    RepeatedColumn {
        /// The file.
        file: String,
        /// The column as the manifest names it.
        column: String,
    },
    /// A cell that cannot be what the manifest says it is.
    #[error("{place}: column `{column}` is not {wanted}: {found}")]
    Cell {
        /// Where.
        place: Place,
        /// The column.
        column: String,
        /// What is needed.
        wanted: &'static str,
        /// What is there, cut short.
        found: String,
    },
    /// Columns that are walked together have lists of different lengths.
    #[error("{place}: the lists that are walked together differ in length ({lengths:?})")]
    UnevenLists {
        /// Where.
        place: Place,
        /// The lengths.
        lengths: Vec<usize>,
    },
    /// Two documents have one id.
    #[error("{place}: document id `{id}` is there twice{}", if *same { "; `deduplicate: true` drops repeated rows" } else { ", with different content; `deduplicate: first` keeps the first" })]
    DuplicateDocument {
        /// Where the second is.
        place: Place,
        /// The id.
        id: String,
        /// Whether both have the same content.
        same: bool,
    },
    /// Two questions have one id.
    #[error("{place}: question id `{id}` is there twice")]
    DuplicateQuestion {
        /// Where the second is.
        place: Place,
        /// The id.
        id: String,
    },
    /// A pair of question and document is judged twice, and differently.
    #[error(
        "{place}: document `{document}` has two grades for question `{query}`: {first} and {second}"
    )]
    ConflictingGrades {
        /// Where the second is.
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
    /// There is no document.
    #[error("dataset `{dataset}` has no documents{}", kept_none(*rows))]
    EmptyCorpus {
        /// The dataset.
        dataset: String,
        /// Rows read.
        rows: u64,
    },
    /// There is no question.
    #[error("dataset `{dataset}` has no questions{}", kept_none(*rows))]
    NoQuestions {
        /// The dataset.
        dataset: String,
        /// Rows read.
        rows: u64,
    },
    /// A cell that begins with `[` and is neither a JSON array nor a document's id.
    #[error(
        "{place}: column `{column}` begins like a list and is no JSON array: {}; {}",
        shown(found),
        as_list(ids)
    )]
    NotAList {
        /// Where.
        place: Place,
        /// The column.
        column: String,
        /// What is there.
        found: String,
        /// The ids that seem to be meant.
        ids: Vec<String>,
    },
    /// Judgements name documents that are not in the corpus, or that are dropped from it because they have no text.
    #[error(
        "judgements name {} not in the corpus, or {} no text there: {}{}; {}",
        if *count == 1 { "a document that is".to_owned() } else { format!("{count} documents that are") },
        if *count == 1 { "has" } else { "have" },
        quoted(first), if *count > first.len() { ", …" } else { "" },
        match likely {
            Some(likely) => likely.to_string(),
            None => format!("allow it to score {} as never found", if *count == 1 { "it" } else { "them" }),
        }
    )]
    UnknownDocuments {
        /// How many.
        count: usize,
        /// The first five, in order.
        first: Vec<String>,
        /// What one of them was likely meant as, where that names documents of the corpus.
        likely: Option<Box<LikelyMeaning>>,
    },
    /// The corpus does not contain any document that is judged relevant.
    #[error(
        "no document that judgements call relevant is in the corpus with a text, so that every score would be 0; missing {}: {}{}; \
         judgements have to name documents as `documents.uri` does",
        if *count == 1 { "is".to_owned() } else { format!("are {count} documents") },
        quoted(first), if *count > first.len() { ", …" } else { "" },
    )]
    NoRelevantDocument {
        /// How many judged documents are missing.
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

fn there_are(columns: &[String]) -> String {
    if columns.is_empty() {
        "it has no columns at all".to_owned()
    } else {
        format!("there are {}", quoted(columns))
    }
}

fn separated(by: Option<char>) -> String {
    match by {
        Some('\t') => ", separated by tabs".to_owned(),
        Some(separator) => format!(", separated by `{separator}`"),
        None => String::new(),
    }
}

fn fetched_anew(cached: Option<&Path>) -> String {
    cached.map_or_else(String::new, |path| {
        format!("; delete `{}`, and it is fetched anew", path.display())
    })
}

fn did_you_mean(nearest: &[String]) -> String {
    if nearest.is_empty() {
        String::new()
    } else {
        format!(", did you mean {}?", quoted(nearest))
    }
}

fn kept_none(rows: u64) -> String {
    match rows {
        0 => String::new(),
        1 => ": its only row is not kept (see `where`, and empty texts)".to_owned(),
        rows => format!(": none of its {rows} rows is kept (see `where`, and empty texts)"),
    }
}
