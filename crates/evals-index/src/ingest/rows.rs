//! Chunks as rows of the table.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, FixedSizeListBuilder, Float32Builder, RecordBatch, StringArray,
    UInt32Array, UInt64Array,
};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

use super::chunk::Chunk;
use crate::table::{CUT, vector_item};

/// Bytes of text at which a batch of rows is full, far below a column's limit of 2 GiB. The last chunk may exceed them.
const FULL_BYTES: usize = 16 << 20;

/// Batches of the table's columns for these chunks. `dimension` is the length of the vectors, if the table has them.
pub(super) fn batches(
    chunks: &[Chunk],
    schema: &SchemaRef,
    dimension: Option<usize>,
) -> Result<Vec<RecordBatch>, ArrowError> {
    let mut batches = Vec::new();
    let mut rest = chunks;
    while !rest.is_empty() {
        let (full, after) = rest.split_at(full_length(rest));
        batches.push(batch(full, schema, dimension)?);
        rest = after;
    }
    Ok(batches)
}

/// How many of the chunks fill a batch; at least one.
fn full_length(chunks: &[Chunk]) -> usize {
    let mut bytes = 0;
    let full = chunks.iter().position(|chunk| {
        bytes += chunk.text().len();
        bytes >= FULL_BYTES
    });
    full.map_or(chunks.len(), |last| last + 1)
}

fn batch(
    chunks: &[Chunk],
    schema: &SchemaRef,
    dimension: Option<usize>,
) -> Result<RecordBatch, ArrowError> {
    let documents = || chunks.iter().map(|chunk| chunk.document.as_ref());
    let metadata = documents().map(|document| {
        serde_json::to_string(&document.metadata).expect("a JSON object has a JSON text")
    });
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(
            documents().map(|document| &document.uri),
        )),
        Arc::new(
            documents()
                .map(|document| document.title.as_deref())
                .collect::<StringArray>(),
        ),
        Arc::new(StringArray::from_iter_values(metadata)),
        Arc::new(UInt32Array::from_iter_values(
            chunks.iter().map(|chunk| chunk.ordinal),
        )),
        Arc::new(UInt64Array::from_iter_values(
            chunks.iter().map(|chunk| chunk.range.start as u64),
        )),
        Arc::new(UInt64Array::from_iter_values(
            chunks.iter().map(|chunk| chunk.range.end as u64),
        )),
        Arc::new(StringArray::from_iter_values(
            chunks.iter().map(Chunk::text),
        )),
    ];
    if let Some(dimension) = dimension {
        columns.push(vectors(chunks, dimension));
    }
    if schema.column_with_name(CUT).is_some() {
        let cut = chunks.iter().map(|chunk| chunk.cut);
        columns.push(Arc::new(cut.collect::<BooleanArray>()));
    }
    RecordBatch::try_new(Arc::clone(schema), columns)
}

fn vectors(chunks: &[Chunk], dimension: usize) -> ArrayRef {
    let width = i32::try_from(dimension).expect("the table's schema was made with this dimension");
    let values = Float32Builder::with_capacity(chunks.len() * dimension);
    let mut vectors =
        FixedSizeListBuilder::with_capacity(values, width, chunks.len()).with_field(vector_item());
    for chunk in chunks {
        match &chunk.vector {
            Some(vector) => vectors.values().append_slice(vector),
            None => vectors.values().append_nulls(dimension),
        }
        vectors.append(chunk.vector.is_some());
    }
    Arc::new(vectors.finish())
}
