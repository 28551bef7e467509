//! Rows of a JSON document: an array of objects, an object with such an array, or an object whose keys are ids.

mod scanner;
mod shape;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::json_lines;
use super::json_objects::{Object, check_columns, object_rows};
use super::{Rows, TableFile};
use crate::error::DataError;
use crate::manifest::Column;
use scanner::Scanner;
use shape::Shape;

/// The column of the keys of an object whose keys are ids.
pub(super) const KEY: &str = "key";
/// The column of the values of such an object.
pub(super) const VALUE: &str = "value";

/// The file is read three times: to learn its shape, to check its columns as in JSON Lines, and for its rows. One row is in memory at a
/// time.
pub(super) fn rows(
    file: &TableFile,
    columns: &[Column],
    compressed: bool,
) -> Result<Rows, DataError> {
    let shape = Shape::of(file, columns, compressed)?;
    if matches!(shape, Shape::Lines) {
        return json_lines::rows(file, columns, compressed);
    }
    let open = || Objects::open(file, &shape, compressed);
    check_columns(file, columns, open()?)?;
    Ok(object_rows(open()?, columns))
}

/// The rows of a document as objects, with their places.
struct Objects {
    scanner: Scanner,
    is_keyed: bool,
}

impl Objects {
    fn open(file: &TableFile, shape: &Shape, compressed: bool) -> Result<Self, DataError> {
        let mut scanner = Scanner::open(file, compressed)?;
        let is_keyed = match shape {
            Shape::Array => {
                scanner.enter_array()?;
                false
            }
            Shape::Member(name) => {
                scanner.enter_object()?;
                while let Some(key) = scanner.next_key()? {
                    if key == *name {
                        break;
                    }
                    scanner.skip_value()?;
                }
                scanner.enter_array()?;
                false
            }
            Shape::Keyed | Shape::Lines => {
                scanner.enter_object()?;
                true
            }
        };
        Ok(Self { scanner, is_keyed })
    }

    fn advance(&mut self) -> Result<Option<Object>, DataError> {
        if self.is_keyed {
            let Some(key) = self.scanner.next_key()? else {
                return Ok(None);
            };
            let (place, value) = self.scanner.value()?;
            return Ok(Some((place, keyed(key, value))));
        }
        if !self.scanner.next_element()? {
            return Ok(None);
        }
        let (place, value) = self.scanner.value()?;
        match value {
            Value::Object(object) => Ok(Some((place, object))),
            other => Err(place.fails(format!("not a JSON object, but {}", kind(&other)))),
        }
    }
}

impl Iterator for Objects {
    type Item = Result<Object, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

/// The row of a member: its key and its value, below the fields that the value has.
fn keyed(key: String, value: Value) -> Map<String, Value> {
    let mut row = match &value {
        Value::Object(fields) => fields.clone(),
        _ => Map::new(),
    };
    row.entry(KEY).or_insert(Value::String(key));
    row.entry(VALUE).or_insert(value);
    row
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "an array",
        Value::String(_) => "a string",
        Value::Bool(_) => "a truth value",
        Value::Null => "null",
        Value::Number(_) => "a number",
        Value::Object(_) => "an object",
    }
}
