use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::hub::{Damage, HubError};

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
    #[error("`{file}` has no known format: the extensions are {}", crate::reader::EXTENSIONS.join(", "))]
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

/// What a cell was likely meant as: read so, it names documents of the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikelyMeaning {
    /// The cell's row.
    pub place: Place,
    /// The cell's column.
    pub column: String,
    /// What is there.
    pub id: String,
    /// How it may be read.
    pub meaning: Meaning,
    /// The ids that it then names.
    pub ids: Vec<String>,
}

/// How a cell may be read otherwise than as one id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Meaning {
    /// A list of ids.
    List {
        /// What stands between them.
        separator: char,
        /// Whether a cell of that column may hold a list; where not, each id needs a row.
        in_one_cell: bool,
    },
    /// An id with white space around it.
    BlanksAround,
    /// An id whose characters are composed in another way.
    OtherNormalization,
}

impl fmt::Display for LikelyMeaning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            place,
            column,
            id,
            meaning,
            ids,
        } = self;
        let id = shown(id);
        write!(formatter, "{place}: column `{column}` holds {id}, which ")?;
        match meaning {
            Meaning::List {
                separator,
                in_one_cell,
            } => {
                let separator = match separator {
                    '\t' => "tabs".to_owned(),
                    '\n' => "line breaks".to_owned(),
                    ' ' => "blanks".to_owned(),
                    other => format!("`{other}`"),
                };
                write!(formatter, "split at {separator} names documents that are there; ")?;
                if *in_one_cell {
                    formatter.write_str(&as_list(ids))
                } else {
                    formatter.write_str("write a row for each document")
                }
            }
            Meaning::BlanksAround => formatter
                .write_str("without the white space around it is a document that is there; remove the white space"),
            Meaning::OtherNormalization => formatter.write_str(
                "in another Unicode normalization is a document that is there; write both files in the same (NFC)",
            ),
        }
    }
}

/// How a list of ids is written.
fn as_list(ids: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut list = String::from("[");
    for (index, id) in ids.iter().take(SHOWN).enumerate() {
        list.push_str(if index > 0 { ", " } else { "" });
        list.push_str(&serde_json::Value::from(id.as_str()).to_string());
    }
    list.push_str(if ids.len() > SHOWN { ", …]" } else { "]" });
    let in_csv = list.replace('"', "\"\"");
    format!(
        "a list of ids is written as a JSON array, `{list}`, and in a field of CSV `\"{in_csv}\"`"
    )
}

/// A cell's text as JSON, cut short.
fn shown(text: &str) -> String {
    const SHOWN: usize = 60;
    let cut: String = text.chars().take(SHOWN).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{more}", serde_json::Value::from(cut))
}

/// What is wrong with a row of CSV.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CsvFault {
    /// A quote without an end.
    #[error(
        "the quote that opens a field here is never closed; a quote inside a quoted field is written twice (`\"\"`)"
    )]
    UnclosedQuote,
    /// A closing quote that is not at its field's end.
    #[error(
        "the quote that opens a field here is closed on line {closed}, but more text follows before the field ends; a quote \
         inside a quoted field is written twice (`\"\"`)"
    )]
    TextAfterQuote {
        /// The line of the closing quote.
        closed: u64,
    },
    /// Not as many fields as the header has.
    #[error(
        "{fields} fields where the header has {header}; a field that holds the separator, a quote or a line break needs \
         quotes around it"
    )]
    Ragged {
        /// Fields of the row.
        fields: usize,
        /// Fields of the header.
        header: usize,
    },
    /// More than is read of one row.
    #[error("the {} begins here is larger than 128 MiB{}", if *in_quotes { "quoted field that" } else { "row that" }, if *in_quotes { "; is its closing quote missing?" } else { "" })]
    TooLong {
        /// Whether a quote is open.
        in_quotes: bool,
    },
}

/// What is wrong with a line of JSON Lines.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JsonFault {
    /// Not JSON.
    #[error("not a JSON object: {what} at column {column}")]
    Syntax {
        /// What the parser says.
        what: String,
        /// The character, from 1.
        column: usize,
    },
    /// JSON of another kind.
    #[error("not a JSON object, but {found}")]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// An array, of objects perhaps.
    #[error(
        "a JSON array begins here, and JSON Lines needs one object on each line; `jq -c '.[]'` writes an array's elements so"
    )]
    Array,
    /// An object that goes on behind the line's end.
    #[error(
        "the object does not end on this line, and JSON Lines needs one object on each line; `jq -c .` writes it so"
    )]
    Spread,
    /// An object that goes on behind the file's end.
    #[error("the file ends in the middle of this object")]
    CutOff,
    /// Several objects, or what stands between the elements of an array.
    #[error(
        "text follows the object at column {column}, and JSON Lines needs one object on each line"
    )]
    TextBehind {
        /// The character, from 1.
        column: usize,
    },
    /// More than is read of one line.
    #[error("the line is larger than 128 MiB")]
    TooLong,
}

/// Why the parquet reader gave up.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct ParquetFailure(Box<dyn std::error::Error + Send + Sync>);

impl ParquetFailure {
    pub(crate) fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Box::new(error))
    }
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line or row, from 1.
    pub number: u64,
    /// What is counted.
    pub unit: Unit,
}

/// What a [`Place`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Lines of a text file, as an editor shows them.
    Line,
    /// Rows of a table.
    Row,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Line => write!(formatter, "{}:{}", self.file, self.number),
            Unit::Row => write!(formatter, "{}, row {}", self.file, self.number),
        }
    }
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
