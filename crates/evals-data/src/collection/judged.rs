//! The judgements table.

use std::collections::BTreeMap;

use evals_metrics::Judgements;
use serde_json::Value;

use super::cells;
use super::judged_ids;
use crate::error::{DataError, Place};
use crate::manifest::{Column, JudgementColumns};
use crate::reader::TableFile;

/// Judgements by question id.
pub(super) type ByQuestion = BTreeMap<String, Judgements>;

/// Reads the table. A repeated pair of question and document is an error unless both grades agree.
pub(super) fn read(
    columns: &JudgementColumns,
    files: &[TableFile],
) -> Result<ByQuestion, DataError> {
    let filter = &columns.filter;
    let wanted: Vec<Column> = filter
        .columns()
        .chain([&columns.query, &columns.document])
        .chain(&columns.grade)
        .cloned()
        .collect();
    let mut by_question = ByQuestion::new();
    for file in files {
        for row in file.rows(&wanted)? {
            let row = row?;
            let (filtered, rest) = row.cells.split_at(filter.columns().count());
            if !filter.accepts(filtered) {
                continue;
            }
            let query = cells::id(&rest[0], &columns.query, &row.place)?;
            let judgements = by_question.entry(query.clone()).or_default();
            for (document, grade) in documents(columns, &rest[1..], &row.place)? {
                if let Some(first) = judgements.grade(&document)
                    && first != grade
                {
                    return Err(DataError::ConflictingGrades {
                        place: row.place,
                        query,
                        document,
                        first,
                        second: grade,
                    });
                }
                judgements.insert(document, grade);
            }
        }
    }
    Ok(by_question)
}

/// The documents of a row with their grades: one, or without a column of grades those of a map of ids to grades.
fn documents(
    columns: &JudgementColumns,
    cells: &[Value],
    place: &Place,
) -> Result<Vec<(String, i32)>, DataError> {
    let document = &cells[0];
    if document.is_object() && columns.grade.is_none() {
        return judged_ids::judged(document, &columns.document, place);
    }
    let document = cells::id(document, &columns.document, place)?;
    let grade = match &columns.grade {
        Some(column) => cells::grade(&cells[1], column, place)?,
        None => 1,
    };
    Ok(vec![(document, grade)])
}
