//! Cells with the parts of documents that answer a question, and with the facts that a good answer has.

use evals_rag::{EvidenceSpan, Nugget};
use serde_json::{Map, Value};

use super::cells::{self, unfit};
use crate::error::{DataError, Place};
use crate::manifest::Column;

const SPANS: &str =
    "a list of `{document, quote, start, end}` or of quotes (`start` and `end` may be left out)";
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
        let span = match &element {
            Value::Object(fields) => span(fields, &element, column, relevant, place)?,
            _ => match cells::text(&element, column, place)? {
                None => None,
                Some(quote) => of_single(relevant, column, place)?.map(|document| EvidenceSpan {
                    document,
                    quote,
                    start: None,
                    end: None,
                }),
            },
        };
        spans.extend(span.filter(|span| !spans.contains(span)));
    }
    Ok(spans)
}

/// A span that an object describes; `None` if its quote is blank, as parquet has it for absent ones.
fn span(
    fields: &Map<String, Value>,
    element: &Value,
    column: &Column,
    relevant: &[String],
    place: &Place,
) -> Result<Option<EvidenceSpan>, DataError> {
    let unfit = || unfit(element, column, place, SPANS);
    let quote = fields.get("quote").ok_or_else(unfit)?;
    let Some(quote) = cells::text(quote, column, place)? else {
        return Ok(None);
    };
    let document = match fields.get("document").filter(|it| !it.is_null()) {
        Some(id) => Some(cells::id(id, column, place)?),
        None => of_single(relevant, column, place)?,
    };
    let position = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(written) => {
            let whole = written.as_u64().and_then(|it| usize::try_from(it).ok());
            whole.map(Some).ok_or_else(unfit)
        }
    };
    let (start, end) = (position("start")?, position("end")?);
    if start.zip(end).is_some_and(|(start, end)| start >= end) {
        let problem = format!("column `{column}` has a span whose end is not after its start: ");
        return Err(place.fails(problem + &cells::shortened(element)));
    }
    Ok(document.map(|document| EvidenceSpan {
        document,
        quote,
        start,
        end,
    }))
}

/// The document of a quote that names none.
fn of_single(
    relevant: &[String],
    column: &Column,
    place: &Place,
) -> Result<Option<String>, DataError> {
    match relevant {
        [] => Ok(None),
        [document] => Ok(Some(document.clone())),
        several => Err(place.fails(format!(
            "column `{column}` has a quote of {} relevant documents and does not say which: write `{{\"document\": …, \"quote\": …}}`",
            several.len()
        ))),
    }
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
