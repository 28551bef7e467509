//! JSON values as ids, texts, grades and metadata.

use evals_messages::visible::beginning;
use serde_json::{Map, Number, Value};

use crate::error::{DataError, Place};
use crate::manifest::Column;

/// An id: text, or a whole number in decimal notation, so that `1`, `1.0` and `"1"` are the same. White space in a text counts, because
/// judgements repeat the id exactly.
pub(super) fn id(cell: &Value, column: &Column, place: &Place) -> Result<String, DataError> {
    match cell {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::Number(number) => whole(number).ok_or_else(|| {
            unfit(
                cell,
                column,
                place,
                "an id (a number must be whole and exact; write the id as text)",
            )
        }),
        other => Err(unfit(
            other,
            column,
            place,
            "an id (text or a number, not empty)",
        )),
    }
}

/// A whole number's decimal notation. From 2^53 on, a floating-point number may represent several integers, and JSON integers beyond
/// 64 bits are read as floating-point numbers.
fn whole(number: &Number) -> Option<String> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.is_i64() || number.is_u64() {
        return Some(number.to_string());
    }
    let number = number.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    let integer = || (number as i64).to_string();
    (number.fract() == 0.0 && number.abs() < EXACT).then(integer)
}

/// A text; `None` if it is null or blank. The elements of a list are trimmed and joined by a space.
pub(super) fn text(
    cell: &Value,
    column: &Column,
    place: &Place,
) -> Result<Option<String>, DataError> {
    let text = match cell {
        Value::Null => return Ok(None),
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => cell.to_string(),
        Value::Array(elements) => {
            let parts = elements
                .iter()
                .map(|element| text(element, column, place))
                .collect::<Result<Vec<_>, _>>()?;
            parts
                .iter()
                .flatten()
                .map(|part| part.trim())
                .collect::<Vec<_>>()
                .join(" ")
        }
        Value::Object(_) => return Err(unfit(cell, column, place, "a text")),
    };
    Ok(if text.trim().is_empty() {
        None
    } else {
        Some(text)
    })
}

/// The texts in cells, each once. With `[]`, the elements of a list are texts of their own.
pub(super) fn texts<'a>(
    cells: impl Iterator<Item = (&'a Column, &'a Value)>,
    place: &Place,
) -> Result<Vec<String>, DataError> {
    let mut texts = Vec::new();
    for (column, cell) in cells {
        // A list is JSON text in CSV, and in parquet that we export.
        let written = cell.as_str().filter(|_| column.each());
        let written: Option<Value> = written.and_then(|text| serde_json::from_str(text).ok());
        let cell = written.as_ref().filter(|it| it.is_array()).unwrap_or(cell);
        let elements = match cell {
            Value::Array(elements) if column.each() => elements.as_slice(),
            whole => std::slice::from_ref(whole),
        };
        for element in elements {
            let text = text(element, column, place)?;
            texts.extend(text.filter(|text| !texts.contains(text)));
        }
    }
    Ok(texts)
}

/// A grade: a whole number, even if it is written as text or with a fraction of zero. `true` is 1, `false` 0.
pub(super) fn grade(cell: &Value, column: &Column, place: &Place) -> Result<i32, DataError> {
    let number = match cell {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse::<f64>().ok(),
        Value::Bool(is_relevant) => Some(f64::from(u8::from(*is_relevant))),
        _ => None,
    };
    let whole = number.filter(|number| number.fract() == 0.0);
    let in_range =
        whole.filter(|whole| (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(whole));
    match in_range {
        #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
        Some(grade) => Ok(grade as i32),
        None => Err(unfit(cell, column, place, "a grade (a whole number)")),
    }
}

/// The values of the columns under their names. `context.*` gives all fields of an object under theirs.
pub(super) fn metadata<'c>(
    columns: impl IntoIterator<Item = (&'c Column, &'c Value)>,
    place: &Place,
) -> Result<Map<String, Value>, DataError> {
    let mut metadata = Map::new();
    for (column, cell) in columns {
        if column.spread().is_some() || column.is_all_others() {
            metadata.extend(fields(column, cell, place)?);
        } else {
            metadata.insert(column.path(), cell.clone());
        }
    }
    Ok(metadata)
}

/// The fields of an object, which CSV and parquet may hold as JSON text.
fn fields(column: &Column, cell: &Value, place: &Place) -> Result<Map<String, Value>, DataError> {
    match cell {
        Value::Null => Ok(Map::new()),
        Value::Object(fields) => Ok(fields.clone()),
        Value::String(text) => serde_json::from_str(text)
            .map_err(|_| unfit(cell, column, place, "an object, or a JSON text of one")),
        _ => Err(unfit(
            cell,
            column,
            place,
            "an object, or a JSON text of one",
        )),
    }
}

pub(super) fn unfit(cell: &Value, column: &Column, place: &Place, wanted: &str) -> DataError {
    let found = shortened(cell);
    place.fails(format!("column `{column}` is not {wanted}: {found}"))
}

/// A cell as JSON, truncated.
pub(super) fn shortened(cell: &Value) -> String {
    const SHOWN: usize = 60;
    beginning(&cell.to_string(), SHOWN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place() -> Place {
        Place::line("a.csv", 3)
    }

    fn column() -> Column {
        "c".parse().unwrap()
    }

    #[test]
    fn grades_are_whole_numbers_in_any_notation() {
        let grade = |cell: Value| grade(&cell, &column(), &place());
        assert_eq!(grade(json!(2)).unwrap(), 2);
        assert_eq!(grade(json!(1.0)).unwrap(), 1);
        assert_eq!(grade(json!(" -1 ")).unwrap(), -1);
        assert_eq!([true, false].map(|it| grade(json!(it)).unwrap()), [1, 0]);
        for bad in [json!(0.5), json!("high"), json!(null), json!(1e300)] {
            assert!(grade(bad).is_err());
        }
    }

    #[test]
    fn ids_are_text_or_exact_whole_numbers() {
        let id = |cell: Value| id(&cell, &column(), &place());
        for one in [json!("1"), json!(1), json!(1.0)] {
            assert_eq!(id(one).unwrap(), "1");
        }
        assert_eq!(id(json!(u64::MAX)).unwrap(), "18446744073709551615");
        assert_eq!(id(json!(-7)).unwrap(), "-7");
        assert_eq!(
            id(json!(9_007_199_254_740_991.0)).unwrap(),
            "9007199254740991"
        );
        assert_eq!(id(json!(" a ")).unwrap(), " a ", "as it is");
        // 2^64 as an integer, which JSON readers turn into a floating-point number.
        let beyond: Value = serde_json::from_str("18446744073709551616").unwrap();
        for bad in [json!(1.5), json!(9_007_199_254_740_992.0), beyond] {
            let message = id(bad).unwrap_err().to_string();
            assert!(
                message.starts_with(
                    "a.csv:3: column `c` is not an id (a number must be whole and exact; write the id as text): "
                ),
                "{message}"
            );
        }
        assert!(id(json!("")).is_err() && id(json!(true)).is_err());
    }

    #[test]
    fn a_list_is_one_text() {
        let text = |cell: Value| text(&cell, &column(), &place()).unwrap();
        assert_eq!(
            text(json!(["One.", " Two.", null, ""])).as_deref(),
            Some("One. Two.")
        );
        assert_eq!(text(json!("  \n")), None);
        assert_eq!(text(json!(7)).as_deref(), Some("7"));
    }

    #[test]
    fn an_unfit_cell_is_shown_cut_short() {
        let error = id(&json!(["x".repeat(100)]), &column(), &place())
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(
                "a.csv:3: column `c` is not an id (text or a number, not empty): [\"xxx"
            )
        );
        assert!(error.ends_with("x…"));
    }
}
