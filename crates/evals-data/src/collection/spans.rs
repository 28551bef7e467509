//! Cells with the parts of documents that answer a question, with the facts that a good answer has, and with those that a user knows.

use evals_rag::{EvidenceSpan, Nugget};
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::cells::{self, unfit};
use crate::error::{DataError, Place};
use crate::manifest::Column;

const SPANS: &str = "a list of `{document, quote, start, end}` or of quotes (`start` and `end`, which is after it, may be left out)";
const NUGGETS: &str = "a list of `{text, vital}` or of texts (`vital` is `true` or `false`)";

/// The spans of a question. A quote without a document is of the single document in `relevant`; without relevant documents it is of none, and
/// left out. Equal spans count once, because datasets repeat an answer for each of the people who gave it.
pub(super) fn evidence(
    cell: &Value,
    column: &Column,
    relevant: &[String],
    place: &Place,
) -> Result<Vec<EvidenceSpan>, DataError> {
    let mut spans: Vec<EvidenceSpan> = Vec::new();
    for element in elements(cell) {
        let fields = match &element {
            Value::Object(fields) => fields.clone(),
            quote => Map::from_iter([("quote".to_owned(), quote.clone())]),
        };
        let unfit = || unfit(&element, column, place, SPANS);
        let field = |name: &str| fields.get(name).filter(|it| !it.is_null());
        let position = |name: &str| {
            let position = field(name).map(|it| usize::deserialize(it).map_err(|_| unfit()));
            position.transpose()
        };
        let (start, end) = (position("start")?, position("end")?);
        if start.zip(end).is_some_and(|(start, end)| start >= end) {
            return Err(unfit());
        }
        let quote = fields.get("quote").ok_or_else(unfit)?;
        // Parquet has blank quotes for absent ones.
        let Some(quote) = cells::text(quote, column, place)? else {
            continue;
        };
        let document = match (field("document"), relevant) {
            (Some(id), _) => cells::id(id, column, place)?,
            (None, [document]) => document.clone(),
            (None, []) => continue,
            (None, several) => {
                return Err(place.fails(format!(
                    "column `{column}` has a quote of {} relevant documents and does not say which: write `{{\"document\": …, \"quote\": …}}`",
                    several.len()
                )));
            }
        };
        let span = EvidenceSpan {
            document,
            quote,
            start,
            end,
        };
        if !spans.contains(&span) {
            spans.push(span);
        }
    }
    Ok(spans)
}

/// The facts that a good answer has.
pub(super) fn nuggets(
    cell: &Value,
    column: &Column,
    place: &Place,
) -> Result<Vec<Nugget>, DataError> {
    let mut nuggets: Vec<Nugget> = Vec::new();
    for element in elements(cell).into_iter().filter(|it| !it.is_null()) {
        let nugget: Nugget = serde_json::from_value(element.clone())
            .map_err(|_| unfit(&element, column, place, NUGGETS))?;
        let is_blank = nugget.text.trim().is_empty();
        if !is_blank && nuggets.iter().all(|known| known.text != nugget.text) {
            nuggets.push(nugget);
        }
    }
    Ok(nuggets)
}

/// What `read` makes of the cell of an optional column: nothing without the column.
pub(super) fn of_optional<T>(
    cell: Option<&Value>,
    column: Option<&Column>,
    read: impl FnOnce(&Value, &Column) -> Result<Vec<T>, DataError>,
) -> Result<Vec<T>, DataError> {
    let found = cell.zip(column);
    found.map_or(Ok(Vec::new()), |(cell, column)| read(cell, column))
}

/// The texts of a list, or the text of a cell.
pub(super) fn texts(
    cell: &Value,
    column: &Column,
    place: &Place,
) -> Result<Vec<String>, DataError> {
    let texts = elements(cell).into_iter();
    let texts = texts.map(|element| cells::text(&element, column, place));
    texts.filter_map(Result::transpose).collect()
}

/// The elements of a cell: of a list, also of one written as JSON text, or the cell alone.
fn elements(cell: &Value) -> Vec<Value> {
    let written = cell.as_str().and_then(|text| {
        let value: Value = serde_json::from_str(text).ok()?;
        // A quote may be a number, or in quotation marks.
        (value.is_array() || value.is_object()).then_some(value)
    });
    match written.unwrap_or_else(|| cell.clone()) {
        Value::Array(elements) => elements,
        one => vec![one],
    }
}
