//! Judged ids that are missing from the corpus: where they are written, and what their author may have meant.

use std::collections::BTreeSet;

use evals_rag::Question;

use super::corpus::Corpus;
use super::{cells, judged};
use crate::error::{DataError, Place, UnknownDocument};
use crate::manifest::Column;
use crate::reader::{Row, TableFile};

/// How to write several ids in one cell.
const LIST: &str =
    "write it as a JSON array, `[\"a\", \"b\"]`, in a field of CSV as `\"[\"\"a\"\", \"\"b\"\"]\"`";

/// The cells that judgements come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct JudgedCells<'a> {
    pub(super) files: &'a [TableFile],
    pub(super) columns: &'a [Column],
    /// The column that tells which question a row is about: its text, or in a judgements table its id.
    pub(super) question: &'a Column,
    /// Whether a cell may hold a list. In a judgements table it may not.
    pub(super) takes_lists: bool,
}

impl JudgedCells<'_> {
    /// The error for an unknown id that starts with `[`: the cell is neither a JSON array nor a document's id.
    pub(super) fn broken_list(
        &self,
        unknown: &BTreeSet<&str>,
    ) -> Result<Option<DataError>, DataError> {
        let broken = unknown.iter().find(|id| id.trim_start().starts_with('['));
        let Some(id) = broken.filter(|_| self.takes_lists) else {
            return Ok(None);
        };
        let written = self.first(id, None)?;
        Ok(written.map(|(place, column)| {
            let cell = cells::shortened(&serde_json::Value::from(*id));
            place.fails(format!(
                "column `{column}` starts with `[` but is not a JSON array: {cell}; {LIST}"
            ))
        }))
    }

    /// The first question that names an unknown document, its place, and the documents that it may mean.
    pub(super) fn first_unknown(
        &self,
        unknown: &BTreeSet<&str>,
        questions: &[Question],
        corpus: &Corpus<'_>,
    ) -> Result<Option<UnknownDocument>, DataError> {
        let named = questions.iter().find_map(|question| {
            let mut judged = question.relevant.iter().map(|(id, _)| id);
            Some((question, judged.find(|id| unknown.contains(id))?))
        });
        let Some((question, id)) = named else {
            return Ok(None);
        };
        let written = if self.takes_lists {
            &question.text
        } else {
            &question.id
        };
        let looks_like_list = id.trim().contains([',', ';', '|', ' ', '\t', '\n']);
        let advice = if self.takes_lists {
            LIST
        } else {
            "write a row for each document"
        };
        Ok(Some(UnknownDocument {
            id: id.to_owned(),
            question: question.id.clone(),
            place: self.first(id, Some(written))?.map(|(place, _)| place),
            nearest: corpus.nearest(id)?,
            advice: looks_like_list.then_some(advice),
        }))
    }

    /// The place and the column of the first cell that names a document. Only rows about the question, if one is given.
    fn first(
        &self,
        id: &str,
        question: Option<&str>,
    ) -> Result<Option<(Place, &Column)>, DataError> {
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
                    let named = judged::of_cell(cell, column, &place).unwrap_or_default();
                    if named.iter().any(|(named, _)| named == id) {
                        return Ok(Some((place, column)));
                    }
                }
            }
        }
        Ok(None)
    }
}
