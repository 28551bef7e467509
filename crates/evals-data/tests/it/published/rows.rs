//! Files of rows that are written as JSON.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, NullArray, RecordBatch,
    StringArray, StructArray,
};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{Field, Fields};
use parquet::arrow::ArrowWriter;
use serde_json::Value;

/// The bytes of a file with these rows, in the format of its name; those of a text alone are the text.
pub(crate) fn written(path: &Path, rows: &Value) -> Vec<u8> {
    if let Value::String(text) = rows {
        return text.clone().into_bytes();
    }
    let rows = rows.as_array().unwrap();
    if path.extension().unwrap() == "parquet" {
        return parquet(rows);
    }
    let lines: Vec<String> = rows.iter().map(ToString::to_string).collect();
    lines.join("\n").into_bytes()
}

fn parquet(rows: &[Value]) -> Vec<u8> {
    let columns = fields(&rows.iter().collect::<Vec<_>>());
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    );
    let batch = batch.unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// The fields of objects, each as an array.
fn fields(objects: &[&Value]) -> Vec<(String, ArrayRef)> {
    let names: BTreeSet<&String> = objects
        .iter()
        .flat_map(|object| object.as_object().unwrap().keys())
        .collect();
    let of = |name: &String| {
        let cells: Vec<&Value> = objects.iter().map(|object| &object[name]).collect();
        (name.clone(), array(&cells))
    };
    names.into_iter().map(of).collect()
}

/// An Arrow array of the values, which are all of one kind.
fn array(cells: &[&Value]) -> ArrayRef {
    match cells.iter().find(|cell| !cell.is_null()) {
        None => Arc::new(NullArray::new(cells.len())),
        Some(Value::String(_)) => {
            Arc::new(cells.iter().map(|it| it.as_str()).collect::<StringArray>())
        }
        Some(Value::Bool(_)) => Arc::new(
            cells
                .iter()
                .map(|it| it.as_bool())
                .collect::<BooleanArray>(),
        ),
        Some(Value::Number(number)) if number.is_i64() => {
            Arc::new(cells.iter().map(|it| it.as_i64()).collect::<Int64Array>())
        }
        Some(Value::Number(_)) => {
            Arc::new(cells.iter().map(|it| it.as_f64()).collect::<Float64Array>())
        }
        Some(Value::Array(_)) => {
            let lists: Vec<&Vec<Value>> = cells.iter().map(|it| it.as_array().unwrap()).collect();
            let elements: Vec<&Value> = lists.iter().flat_map(|list| list.iter()).collect();
            let values = array(&elements);
            let field = Field::new("element", values.data_type().clone(), true);
            let lengths = OffsetBuffer::from_lengths(lists.iter().map(|list| list.len()));
            Arc::new(ListArray::new(Arc::new(field), lengths, values, None))
        }
        Some(Value::Object(_)) => {
            let columns = fields(cells);
            let (names, arrays): (Vec<_>, Vec<_>) = columns
                .into_iter()
                .map(|(name, array)| (Field::new(name, array.data_type().clone(), true), array))
                .unzip();
            Arc::new(StructArray::new(Fields::from(names), arrays, None))
        }
        Some(Value::Null) => unreachable!("the cell is not null"),
    }
}
