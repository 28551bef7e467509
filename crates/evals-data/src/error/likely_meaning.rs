//! The likely meaning of a cell that names no document.

use std::fmt;

use super::place::Place;

/// The likely meaning of a cell: read this way, it names documents of the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikelyMeaning {
    /// The cell's row.
    pub place: Place,
    /// The cell's column.
    pub column: String,
    /// The cell's content.
    pub id: String,
    /// The other reading.
    pub meaning: Meaning,
    /// The ids that this reading names.
    pub ids: Vec<String>,
}

/// Another way to read a cell than as one id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Meaning {
    /// A list of ids.
    List {
        /// The character between them.
        separator: char,
        /// Whether a cell of that column may hold a list. If not, each id needs a row.
        in_one_cell: bool,
    },
    /// An id with white space around it.
    BlanksAround,
    /// An id in another Unicode normalization.
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
                    ' ' => "spaces".to_owned(),
                    other => format!("`{other}`"),
                };
                write!(formatter, "split at {separator} names documents of the corpus; ")?;
                if *in_one_cell {
                    formatter.write_str(&as_list(ids))
                } else {
                    formatter.write_str("write a row for each document")
                }
            }
            Meaning::BlanksAround => formatter
                .write_str("without the white space around it names a document of the corpus; remove the white space"),
            Meaning::OtherNormalization => formatter.write_str(
                "in another Unicode normalization names a document of the corpus; write both files in the same one (NFC)",
            ),
        }
    }
}

/// How to write a list of ids.
pub(super) fn as_list(ids: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut list = String::from("[");
    for (index, id) in ids.iter().take(SHOWN).enumerate() {
        list.push_str(if index > 0 { ", " } else { "" });
        list.push_str(&serde_json::Value::from(id.as_str()).to_string());
    }
    list.push_str(if ids.len() > SHOWN { ", …]" } else { "]" });
    let in_csv = list.replace('"', "\"\"");
    format!("write a list of ids as a JSON array, `{list}`, in a field of CSV as `\"{in_csv}\"`")
}

/// A cell's text as JSON, truncated.
pub(super) fn shown(text: &str) -> String {
    const SHOWN: usize = 60;
    let cut: String = text.chars().take(SHOWN).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{more}", serde_json::Value::from(cut))
}
