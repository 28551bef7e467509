//! Judgements: the judgements table, and the cells that name judged documents with their grades.

use std::collections::BTreeMap;

use evals_metrics::Judgements;
use serde_json::{Map, Value};

use super::cells::{self, unfit};
use super::documents::{element, steps};
use crate::error::{DataError, Place};
use crate::manifest::{Column, JudgementColumns};
use crate::reader::TableFile;

/// The names that the id and the grade may have in a list of objects, the first one first.
const ID: [&str; 5] = ["id", "document", "doc_id", "document_id", "corpus-id"];
const GRADE: [&str; 4] = ["grade", "relevance", "score", "rel"];

/// Judgements by question id.
pub(super) type ByQuestion = BTreeMap<String, Judgements>;

/// Reads the judgements table. A repeated pair of question and document is an error unless both grades agree.
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
            let Some(rest) = filter.rest_of(&row.cells) else {
                continue;
            };
            let query = cells::id(&rest[0], &columns.query, &row.place)?;
            let documents = documents(columns, &rest[1..], &row.place)?;
            let judgements = by_question.entry(query.clone()).or_default();
            add(judgements, documents, &query, &row.place)?;
        }
    }
    Ok(by_question)
}

/// The documents of a row with their grades: one, one for each element of columns with `[]`, or without a column of grades those of a
/// map of ids to grades.
fn documents(
    columns: &JudgementColumns,
    cells: &[Value],
    place: &Place,
) -> Result<Vec<(String, i32)>, DataError> {
    let document = &cells[0];
    if document.is_object() && columns.grade.is_none() {
        return of_cell(document, &columns.document, place);
    }
    let one = |cells: &[&Value]| -> Result<(String, i32), DataError> {
        let id = cells::id(cells[0], &columns.document, place)?;
        let grade = match &columns.grade {
            Some(column) => cells::grade(cells[1], column, place)?,
            None => 1,
        };
        Ok((id, grade))
    };
    if !columns.document.each() {
        return Ok(vec![one(&cells.iter().collect::<Vec<_>>())?]);
    }
    let named: Vec<Column> = std::iter::once(&columns.document)
        .chain(&columns.grade)
        .cloned()
        .collect();
    let judged = (0..steps(&named, cells, place)?).map(|step| {
        let cells = named.iter().zip(cells);
        one(&cells
            .map(|(column, cell)| element(column, cell, step))
            .collect::<Vec<_>>())
    });
    judged.collect()
}

/// Adds documents with their grades to the judgements of a question.
pub(super) fn add(
    judgements: &mut Judgements,
    documents: Vec<(String, i32)>,
    question: &str,
    place: &Place,
) -> Result<(), DataError> {
    for (document, grade) in documents {
        if let Some(first) = judgements.grade(&document)
            && first != grade
        {
            return Err(place.fails(format!(
                "document `{document}` has two grades for question `{question}`: {first} and {grade}"
            )));
        }
        judgements.insert(document, grade);
    }
    Ok(())
}

/// The documents in a cell with their grades.
///
/// * Ids have grade 1: one, several in a list, or none. Null, the empty string and an empty CSV field name none.
/// * A map of ids to grades: `{"a": 2, "b": 0}`.
/// * A list of objects with an id and a grade: `[{"id": "a", "grade": 2}]`. Without a grade it is 1.
///
/// A text that is a JSON array or a map of ids to grades counts as such, because CSV fields have no other form for them.
pub(super) fn of_cell(
    cell: &Value,
    column: &Column,
    place: &Place,
) -> Result<Vec<(String, i32)>, DataError> {
    let written = cell.as_str().and_then(written_value);
    let cell = written.as_ref().unwrap_or(cell);
    match cell {
        Value::Object(grades) => of_map(grades, column, place),
        Value::Array(elements) => {
            let judged = elements
                .iter()
                .map(|element| of_element(element, column, place));
            let judged = judged.collect::<Result<Vec<_>, _>>()?;
            Ok(judged.into_iter().flatten().collect())
        }
        one => Ok(of_element(one, column, place)?.into_iter().collect()),
    }
}

/// A map of ids to grades. An entry without a grade (null) says nothing: in parquet every row has all fields of the column.
fn of_map(
    grades: &Map<String, Value>,
    column: &Column,
    place: &Place,
) -> Result<Vec<(String, i32)>, DataError> {
    let graded = grades.iter().filter(|(_, grade)| !grade.is_null());
    graded
        .map(|(id, grade)| Ok((id.clone(), cells::grade(grade, column, place)?)))
        .collect()
}

/// An element of a list, or a cell without a list. `None` if it names no document.
fn of_element(
    element: &Value,
    column: &Column,
    place: &Place,
) -> Result<Option<(String, i32)>, DataError> {
    match element {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::Object(fields) => {
            let field = |names: &[&str]| names.iter().find_map(|name| fields.get(*name));
            let id = field(&ID).ok_or_else(|| {
                unfit(
                    element,
                    column,
                    place,
                    "a judged document with `id` and `grade`",
                )
            })?;
            let grade = match field(&GRADE) {
                Some(grade) => cells::grade(grade, column, place)?,
                None => 1,
            };
            Ok(Some((cells::id(id, column, place)?, grade)))
        }
        id => Ok(Some((cells::id(id, column, place)?, 1))),
    }
}

/// The array or the map of grades that a text is. Other texts in braces are ids: some programs write UUIDs so.
fn written_value(text: &str) -> Option<Value> {
    let value = match text.trim_start().as_bytes().first()? {
        b'[' | b'{' => serde_json::from_str(text).ok()?,
        _ => return None,
    };
    match value {
        Value::Array(_) | Value::Object(_) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_or_fail(cell: &Value) -> Result<Vec<(String, i32)>, String> {
        let place = Place::line("a.json", 3);
        let judged = of_cell(cell, &"relevant".parse().unwrap(), &place);
        judged.map_err(|error| error.to_string())
    }

    fn read(cell: &Value) -> Vec<(String, i32)> {
        read_or_fail(cell).unwrap()
    }

    fn of(pairs: &[(&str, i32)]) -> Vec<(String, i32)> {
        let pairs = pairs.iter().map(|(id, grade)| ((*id).to_owned(), *grade));
        pairs.collect()
    }

    #[test]
    fn null_and_the_empty_string_name_nothing() {
        assert_eq!(read(&json!("")), of(&[]));
        assert_eq!(read(&json!(null)), of(&[]));
        assert_eq!(read(&json!({})), of(&[]));
        assert_eq!(
            read(&json!(["a", "", null, 2])),
            of(&[("a", 1), ("2", 1)]),
            "an id without a grade has grade 1"
        );
    }

    #[test]
    fn a_map_and_a_list_of_objects_carry_grades() {
        let wanted = of(&[("a", 2), ("b", 0)]);
        for cell in [
            json!({"a": 2, "b": 0, "c": null}),
            json!([{"id": "a", "grade": 2}, {"id": "b", "grade": 0}]),
            json!([{"doc_id": "a", "relevance": 2.0}, {"corpus-id": "b", "score": "0"}]),
            json!(r#"{"a": 2, "b": 0}"#),
            json!(r#"[{"id": "a", "grade": 2}, {"id": "b", "grade": 0}]"#),
        ] {
            assert_eq!(read(&cell), wanted, "{cell}");
        }
        assert_eq!(read(&json!([{"id": 7}])), of(&[("7", 1)]));
        assert_eq!(
            read(&json!("{0c7b1f2e-uuid}")),
            of(&[("{0c7b1f2e-uuid}", 1)]),
            "an id"
        );
    }

    #[test]
    fn what_is_no_grade_names_its_place() {
        assert_eq!(
            read_or_fail(&json!({"a": "high"})).unwrap_err(),
            "a.json:3: column `relevant` is not a grade (a whole number): \"high\""
        );
        assert_eq!(
            read_or_fail(&json!([{"title": "a"}])).unwrap_err(),
            "a.json:3: column `relevant` is not a judged document with `id` and `grade`: {\"title\":\"a\"}"
        );
    }
}
