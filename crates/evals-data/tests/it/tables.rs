//! Small parquet files.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;

/// A table of strings.
pub(crate) fn parquet(columns: &[(&str, &[&str])]) -> Vec<u8> {
    let arrays = columns.iter().map(|(name, values)| {
        let array: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
        (*name, array)
    });
    let batch = RecordBatch::try_from_iter(arrays).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// Two documents.
pub(crate) fn corpus() -> Vec<u8> {
    parquet(&[
        ("_id", &["d1", "d2"]),
        ("title", &["One", ""]),
        ("text", &["first", "second"]),
    ])
}
