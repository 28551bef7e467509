//! The judgements table.

use std::collections::BTreeMap;

use evals_metrics::Judgements;

use super::cells;
use crate::error::DataError;
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
            let document = cells::id(&rest[1], &columns.document, &row.place)?;
            let grade = match &columns.grade {
                Some(column) => cells::grade(&rest[2], column, &row.place)?,
                None => 1,
            };
            let judgements = by_question.entry(query.clone()).or_default();
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
    Ok(by_question)
}
