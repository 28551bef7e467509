//! Judged ids that are missing from the corpus, and what their author likely meant.

use std::collections::BTreeSet;

use evals_rag::Question;
use unicode_normalization::UnicodeNormalization as _;

use super::corpus::Corpus;
use super::{cells, judged_ids};
use crate::error::{DataError, LikelyMeaning, Meaning, Place, UnknownDocument};
use crate::manifest::Column;
use crate::reader::{Row, TableFile};

/// Separators that people write between ids, the most likely first.
const SEPARATORS: [char; 6] = [',', ';', '|', '\t', '\n', ' '];
/// The number of examined ids, which is enough to recognise a pattern.
const LOOKED_INTO: usize = 1000;

/// The cells that judgements come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged<'a> {
    pub(super) files: &'a [TableFile],
    pub(super) columns: &'a [Column],
    /// The column that tells which question a row is about: its text, or in a judgements table its id.
    pub(super) question: &'a Column,
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
    let Some((place, column, found)) = judged.first_cell(&begins, None)? else {
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
    let first = judged.first_cell(&misread, None)?;
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

/// The first question that names an unknown document, its place, and the documents that it may mean.
pub(super) fn unknown_document(
    unknown: &BTreeSet<&str>,
    questions: &[Question],
    corpus: &Corpus<'_>,
    judged: Judged<'_>,
) -> Result<Option<UnknownDocument>, DataError> {
    let named = questions.iter().find_map(|question| {
        let mut judged = question.relevant.iter().map(|(id, _)| id);
        Some((question, judged.find(|id| unknown.contains(id))?))
    });
    let Some((question, id)) = named else {
        return Ok(None);
    };
    let written = if judged.takes_lists {
        &question.text
    } else {
        &question.id
    };
    let cell = judged.first_cell(&BTreeSet::from([id]), Some(written))?;
    Ok(Some(UnknownDocument {
        id: id.to_owned(),
        question: question.id.clone(),
        place: cell.map(|(place, ..)| place),
        nearest: corpus.nearest(id)?,
    }))
}

impl Judged<'_> {
    /// The first cell that names one of these documents: its place, its column and the document. Only rows about the question, if one is
    /// given.
    fn first_cell(
        &self,
        ids: &BTreeSet<&str>,
        question: Option<&str>,
    ) -> Result<Option<(Place, String, String)>, DataError> {
        if ids.is_empty() {
            return Ok(None);
        }
        let mut wanted = vec![self.question.clone()];
        wanted.extend_from_slice(self.columns);
        for file in self.files {
            for row in file.rows(&wanted)? {
                let Row { place, cells: read } = row?;
                // Cells that cannot be read are in rows that `where` leaves out.
                let asked = cells::text(&read[0], self.question, &place).ok();
                if question.is_some() && question != asked.flatten().as_deref() {
                    continue;
                }
                for (column, cell) in self.columns.iter().zip(&read[1..]) {
                    let named = judged_ids::judged(cell, column, &place).unwrap_or_default();
                    if let Some((id, _)) = named.into_iter().find(|(id, _)| ids.contains(&**id)) {
                        return Ok(Some((place, column.to_string(), id)));
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
