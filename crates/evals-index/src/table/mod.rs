//! The table of an index: its columns, and the records in its schema.

pub(crate) mod chunks;
pub(crate) mod contents;
pub(crate) mod full_text;
pub(crate) mod positions;
pub(crate) mod terms;
pub(crate) mod vector_index;

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use lance::dataset::Dataset;
use lancedb::table::{FieldMetadataUpdate, Table};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::error::IndexError;
use crate::header::{Completion, CutChunks};
use crate::identity::Identity;

/// The document's uri.
pub(crate) const URI: &str = "uri";
/// The document's title, or null.
pub(crate) const TITLE: &str = "title";
/// The document's metadata, a JSON object.
pub(crate) const METADATA: &str = "metadata";
/// The chunk's number within its document, from 0.
pub(crate) const ORDINAL: &str = "ordinal";
/// Where the chunk starts in the document's text, in bytes.
pub(crate) const START: &str = "start";
/// Where the chunk ends in the document's text, in bytes.
pub(crate) const END: &str = "end";
/// The chunk's text.
pub(crate) const TEXT: &str = "text";
/// The chunk's embedding; null for a chunk without text. Missing in an index without embedder.
pub(crate) const VECTOR: &str = "vector";

/// Whether the embedding model truncated the chunk's text; null if unknown. Missing in an index without embedder, and in one whose
/// build an earlier version began.
pub(crate) const CUT: &str = "cut";

/// The engine's own row number, which does not change unless the table is rewritten.
pub(crate) const ROW_ID: &str = "_rowid";

/// Columns that a filter may name.
pub(crate) const FILTER_COLUMNS: [&str; 3] = [URI, TITLE, METADATA];

/// Key of the schema's metadata that holds the [`Identity`].
const IDENTITY_KEY: &str = "evaluations:identity";
/// Key of the uri column's metadata that holds the [`Completion`].
const COMPLETION_KEY: &str = "evaluations:completion";

/// The columns of an index with this identity.
pub(crate) fn schema(identity: &Identity) -> SchemaRef {
    let mut fields = vec![
        Field::new(URI, DataType::Utf8, false),
        Field::new(TITLE, DataType::Utf8, true),
        Field::new(METADATA, DataType::Utf8, false),
        Field::new(ORDINAL, DataType::UInt32, false),
        Field::new(START, DataType::UInt64, false),
        Field::new(END, DataType::UInt64, false),
        Field::new(TEXT, DataType::Utf8, false),
    ];
    if let Some(embedder) = identity.embedder() {
        fields.push(Field::new(VECTOR, vector_type(embedder.dimension), true));
        fields.push(Field::new(CUT, DataType::Boolean, true));
    }
    let metadata = HashMap::from([(IDENTITY_KEY.to_owned(), identity.to_json())]);
    Arc::new(Schema::new_with_metadata(fields, metadata))
}

/// The columns of rows that are added to a table. Tables whose build an earlier version began lack the newer columns.
pub(crate) async fn row_schema(
    table: &Table,
    identity: &Identity,
) -> Result<SchemaRef, IndexError> {
    let (full, found) = (schema(identity), read_schema(table).await?);
    let fields = full.fields().iter();
    let fields: Vec<_> = fields
        .filter(|field| field.name() != CUT || found.column_with_name(CUT).is_some())
        .cloned()
        .collect();
    Ok(Arc::new(Schema::new_with_metadata(
        fields,
        full.metadata().clone(),
    )))
}

pub(crate) fn vector_type(dimension: usize) -> DataType {
    let width = i32::try_from(dimension).expect("no embedding has two thousand million dimensions");
    DataType::FixedSizeList(vector_item(), width)
}

/// The field of a vector's components, named as the engine names it.
pub(crate) fn vector_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Float32, true))
}

/// The identity in a table's schema; `None` if it cannot be read.
pub(crate) async fn identity(table: &Table) -> Result<Option<Identity>, IndexError> {
    let schema = read_schema(table).await?;
    Ok(schema
        .metadata()
        .get(IDENTITY_KEY)
        .and_then(|json| serde_json::from_str(json).ok()))
}

/// The record of the table's completion; `None` for an unfinished table.
pub(crate) async fn completion(table: &Table) -> Result<Option<Completion>, IndexError> {
    record(table, COMPLETION_KEY).await
}

/// The record under `key` in the metadata of the uri column; `None` if it is missing or cannot be read.
pub(crate) async fn record<R: DeserializeOwned>(
    table: &Table,
    key: &str,
) -> Result<Option<R>, IndexError> {
    let schema = read_schema(table).await?;
    Ok(schema
        .field_with_name(URI)
        .ok()
        .and_then(|field| field.metadata().get(key))
        .and_then(|json| serde_json::from_str(json).ok()))
}

/// Records that the table is finished, in one commit.
pub(crate) async fn complete(table: &Table, completion: Completion) -> Result<(), IndexError> {
    let json = serde_json::to_string(&completion).expect("a completion record is numbers");
    table
        .update_field_metadata(&[FieldMetadataUpdate::new(URI).set(COMPLETION_KEY, json)])
        .await
        .map_err(IndexError::during("record that the index is complete"))?;
    Ok(())
}

async fn read_schema(table: &Table) -> Result<SchemaRef, IndexError> {
    table
        .schema()
        .await
        .map_err(IndexError::during("read the index's schema"))
}

/// The engine's own dataset behind a table.
pub(crate) async fn dataset(table: &Table) -> lancedb::Result<Arc<Dataset>> {
    let dataset = table.dataset().expect("a store is no server");
    dataset.get().await
}

/// Identifies the files of a table's rows: the SHA-256 of their names, which no other table has.
pub(crate) async fn rows_digest(table: &Table) -> Result<String, IndexError> {
    let dataset = dataset(table).await;
    let dataset = dataset.map_err(IndexError::during("read the index's list of files"))?;
    let mut digest = Sha256::new();
    for file in dataset.fragments().iter().flat_map(|it| &it.files) {
        digest.update(format!("{}\n", file.path));
    }
    Ok(hex::encode(digest.finalize()))
}

/// Counts the chunks that the embedding model truncated; `None` if the table has no vectors, or if an earlier version began its build.
pub(crate) async fn cut_chunks(table: &Table) -> Result<Option<CutChunks>, IndexError> {
    if read_schema(table).await?.column_with_name(CUT).is_none() {
        return Ok(None);
    }
    let count = async |filter: String| {
        let counted = table.count_rows(Some(filter)).await;
        counted.map_err(IndexError::during(
            "count the chunks that the embedding model truncated",
        ))
    };
    Ok(Some(CutChunks {
        cut: count(CUT.to_owned()).await?,
        unknown: count(format!("{CUT} IS NULL AND {VECTOR} IS NOT NULL")).await?,
    }))
}
