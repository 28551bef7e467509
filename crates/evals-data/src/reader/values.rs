//! Arrow cells as JSON values.

use arrow::array::{Array, AsArray, StructArray};
use arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow::error::ArrowError;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use serde_json::Value;

/// Why a cell has no JSON value.
#[derive(Debug)]
pub(super) enum CellFailure {
    /// Binary text that is not UTF-8.
    NotUtf8,
    /// A kind of value that has no text.
    Arrow(ArrowError),
}

/// The JSON value of one cell. Numbers that JSON lacks (NaN, infinities) become null; dates, times and decimals become text.
pub(super) fn value(array: &dyn Array, row: usize) -> Result<Value, CellFailure> {
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    Ok(match array.data_type() {
        // A column of nulls alone has no validity bitmap.
        DataType::Null => Value::Null,
        DataType::Utf8 => Value::from(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Value::from(array.as_string::<i64>().value(row)),
        DataType::Utf8View => Value::from(array.as_string_view().value(row)),
        DataType::Binary => text(array.as_binary::<i32>().value(row))?,
        DataType::LargeBinary => text(array.as_binary::<i64>().value(row))?,
        DataType::BinaryView => text(array.as_binary_view().value(row))?,
        DataType::Boolean => Value::from(array.as_boolean().value(row)),
        DataType::Int8 => Value::from(array.as_primitive::<Int8Type>().value(row)),
        DataType::Int16 => Value::from(array.as_primitive::<Int16Type>().value(row)),
        DataType::Int32 => Value::from(array.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => Value::from(array.as_primitive::<Int64Type>().value(row)),
        DataType::UInt8 => Value::from(array.as_primitive::<UInt8Type>().value(row)),
        DataType::UInt16 => Value::from(array.as_primitive::<UInt16Type>().value(row)),
        DataType::UInt32 => Value::from(array.as_primitive::<UInt32Type>().value(row)),
        DataType::UInt64 => Value::from(array.as_primitive::<UInt64Type>().value(row)),
        DataType::Float32 => Value::from(array.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => Value::from(array.as_primitive::<Float64Type>().value(row)),
        DataType::List(_) => list(&*array.as_list::<i32>().value(row))?,
        DataType::LargeList(_) => list(&*array.as_list::<i64>().value(row))?,
        DataType::FixedSizeList(..) => list(&*array.as_fixed_size_list().value(row))?,
        DataType::Struct(_) => object(array.as_struct(), row)?,
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let key = value(dictionary.keys(), row)?
                .as_u64()
                .and_then(|key| usize::try_from(key).ok());
            value(
                &**dictionary.values(),
                key.expect("a dictionary's keys are indices"),
            )?
        }
        _ => {
            let formatter = ArrayFormatter::try_new(array, &FormatOptions::default())
                .map_err(CellFailure::Arrow)?;
            Value::from(
                formatter
                    .value(row)
                    .try_to_string()
                    .map_err(CellFailure::Arrow)?,
            )
        }
    })
}

fn text(bytes: &[u8]) -> Result<Value, CellFailure> {
    std::str::from_utf8(bytes)
        .map(Value::from)
        .map_err(|_| CellFailure::NotUtf8)
}

fn list(elements: &dyn Array) -> Result<Value, CellFailure> {
    (0..elements.len())
        .map(|element| value(elements, element))
        .collect::<Result<_, _>>()
        .map(Value::Array)
}

fn object(fields: &StructArray, row: usize) -> Result<Value, CellFailure> {
    let names = fields.column_names();
    let values = names
        .iter()
        .zip(fields.columns())
        .map(|(name, field)| Ok(((*name).to_owned(), value(field, row)?)));
    values.collect::<Result<_, _>>().map(Value::Object)
}
