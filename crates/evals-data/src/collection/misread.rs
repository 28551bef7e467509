//! Judged ids that are missing from the corpus, and what their author likely meant.

use std::collections::BTreeSet;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use super::corpus::Corpus;
use crate::error::{DataError, LikelyMeaning, Meaning};
use crate::manifest::Column;
use crate::reader::TableFile;

/// Separators that people write between ids, the most likely first.
const SEPARATORS: [char; 6] = [',', ';', '|', '\t', '\n', ' '];
/// The number of examined ids, which is enough to recognise a pattern.
const LOOKED_INTO: usize = 1000;

/// The cells that judgements come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged<'a> {
    pub(super) files: &'a [TableFile],
    pub(super) columns: &'a [Column],
    /// Whether a cell may hold a list. In a judgements table it may not.
    pub(super) takes_lists: bool,
}

/// The error for a cell that starts with `[`, but is neither a JSON array nor a document's id.
pub(super) fn broken_list(
    unknown: &BTreeSet<&str>,
    judged: Judged<'_>,
) -> Result<Option<DataError>, DataError> {
    let begins: BTreeSet<&str> = unknown
        .iter()
        .copied()
        .filter(|id| judged.takes_lists && id.trim_start().starts_with('['))
        .collect();
    let Some((place, column, found)) = judged.first_cell(&begins)? else {
        return Ok(None);
    };
    let separator = SEPARATORS.into_iter().find(|&one| found.contains(one));
    let ids = pieces(&found, separator.unwrap_or(','));
    Ok(Some(DataError::NotAList {
        place,
        column,
        found,
        ids,
    }))
}

/// Unknown ids that name documents when they are read in another way.
#[derive(Debug, Default)]
pub(super) struct Misread {
    /// The number of such ids.
    pub(super) count: u64,
    /// The first of them in the file.
    pub(super) first: Option<LikelyMeaning>,
}

/// Reads unknown ids in other ways, and reads the corpus once more to see what they name then.
pub(super) fn misread(
    unknown: &BTreeSet<&str>,
    corpus: &Corpus<'_>,
    judged: Judged<'_>,
) -> Result<Misread, DataError> {
    let readings: Vec<(&str, Meaning, Vec<String>)> = unknown
        .iter()
        .take(LOOKED_INTO)
        .flat_map(|&id| other_readings(id, judged.takes_lists))
        .collect();
    let mut absent: BTreeSet<&str> = readings
        .iter()
        .flat_map(|(_, _, ids)| ids.iter().map(String::as_str))
        .collect();
    if absent.is_empty() {
        return Ok(Misread::default());
    }
    corpus.remove_found(&mut absent)?;
    let names_documents = |ids: &[String]| ids.iter().all(|id| !absent.contains(id.as_str()));
    let meant: Vec<_> = readings
        .iter()
        .filter(|(_, _, ids)| names_documents(ids))
        .collect();
    let misread: BTreeSet<&str> = meant.iter().map(|(id, ..)| *id).collect();
    let first = judged.first_cell(&misread)?;
    let first = first.and_then(|(place, column, found)| {
        let (_, meaning, ids) = meant.iter().find(|(id, ..)| *id == found)?;
        Some(LikelyMeaning {
            place,
            column,
            id: found,
            meaning: *meaning,
            ids: ids.clone(),
        })
    });
    Ok(Misread {
        count: misread.len() as u64,
        first,
    })
}

impl Judged<'_> {
    /// The first cell whose text is one of these ids: its place, its column and the id.
    fn first_cell(
        &self,
        ids: &BTreeSet<&str>,
    ) -> Result<Option<(crate::error::Place, String, String)>, DataError> {
        if ids.is_empty() {
            return Ok(None);
        }
        for file in self.files {
            for row in file.rows(self.columns)? {
                let row = row?;
                for (column, cell) in self.columns.iter().zip(row.cells) {
                    if let Value::String(text) = cell
                        && ids.contains(text.as_str())
                    {
                        return Ok(Some((row.place, column.to_string(), text)));
                    }
                }
            }
        }
        Ok(None)
    }
}

/// Other ways to read an id.
fn other_readings(id: &str, takes_lists: bool) -> Vec<(&str, Meaning, Vec<String>)> {
    let mut readings = Vec::new();
    if id.trim() != id {
        readings.push((id, Meaning::BlanksAround, vec![id.trim().to_owned()]));
    }
    for other in [id.nfc().collect::<String>(), id.nfd().collect()] {
        if other != id {
            readings.push((id, Meaning::OtherNormalization, vec![other]));
        }
    }
    for separator in SEPARATORS {
        let ids = pieces(id, separator);
        if ids.len() > 1 {
            let meaning = Meaning::List {
                separator,
                in_one_cell: takes_lists,
            };
            readings.push((id, meaning, ids));
        }
    }
    readings
}

/// The ids of a list that is not written as JSON, without brackets and quotes around them.
fn pieces(list: &str, separator: char) -> Vec<String> {
    let bare = list.trim();
    let bare = [('[', ']'), ('{', '}'), ('(', ')')]
        .into_iter()
        .find_map(|(open, close)| bare.strip_prefix(open)?.strip_suffix(close))
        .unwrap_or(bare);
    bare.split(separator)
        .map(|piece| piece.trim().trim_matches(['\'', '"', '[', ']']))
        .filter(|piece| !piece.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_in_every_common_notation() {
        for (list, separator) in [
            ("a,b", ','),
            ("['a', 'b']", ','),
            ("[\"a\",b]", ','),
            ("{a,b}", ','),
            ("('a', 'b')", ','),
            ("['a' 'b']", ' '),
            ("a|b", '|'),
            (" a ; b; ", ';'),
        ] {
            assert_eq!(pieces(list, separator), ["a", "b"], "{list}");
        }
    }
}
