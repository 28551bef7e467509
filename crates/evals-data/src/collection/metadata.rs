//! The metadata of documents and questions, from the columns that a manifest keeps.

use serde_json::{Map, Value};

use super::cells::unfit;
use crate::error::{DataError, Place};
use crate::manifest::Column;

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
