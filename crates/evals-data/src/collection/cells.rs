//! JSON values as ids, texts and grades.

use serde_json::Value;

use crate::error::{DataError, Place};
use crate::manifest::Column;

/// An id: text, or a number's own notation. It is taken as it is, white space included, because judgements name it so.
pub(super) fn id(cell: &Value, column: &Column, place: &Place) -> Result<String, DataError> {
    match cell {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(unfit(
            other,
            column,
            place,
            "an id (text or a number, not empty)",
        )),
    }
}

/// Ids in a cell: one, a list of them, or none where it is null.
pub(super) fn ids(cell: &Value, column: &Column, place: &Place) -> Result<Vec<String>, DataError> {
    match cell {
        Value::Null => Ok(Vec::new()),
        Value::Array(elements) => elements
            .iter()
            .map(|element| id(element, column, place))
            .collect(),
        one => Ok(vec![id(one, column, place)?]),
    }
}

/// A text, or `None` where it is null or blank. A list is its elements, trimmed and joined by a blank.
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

/// A grade: a whole number, also where it is written as text or with a fraction of nought.
pub(super) fn grade(cell: &Value, column: &Column, place: &Place) -> Result<i32, DataError> {
    let number = match cell {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse::<f64>().ok(),
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

pub(super) fn unfit(
    cell: &Value,
    column: &Column,
    place: &Place,
    wanted: &'static str,
) -> DataError {
    const SHOWN: usize = 60;
    let whole = cell.to_string();
    let mut found: String = whole.chars().take(SHOWN).collect();
    if found.len() < whole.len() {
        found.push('…');
    }
    DataError::Cell {
        place: place.clone(),
        column: column.to_string(),
        wanted,
        found,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::Unit;

    fn place() -> Place {
        Place {
            file: "a.csv".to_owned(),
            number: 3,
            unit: Unit::Line,
        }
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
        for bad in [json!(0.5), json!("high"), json!(null), json!(1e300)] {
            assert!(grade(bad).is_err());
        }
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
