//! Reads the chunks of a table as a stream.

use std::sync::Arc;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Float32Type, UInt32Type};
use evals_rag::Chunk;
use futures::{Stream, TryStreamExt as _, stream};
use lancedb::query::{ExecutableQuery, QueryBase, Select};

use super::contents::Contents;
use super::{METADATA, ORDINAL, TEXT, TITLE, URI, VECTOR};
use crate::error::IndexError;

/// All chunks in their order. Only a few batches of them are in memory at a time.
pub(crate) async fn read(
    contents: Arc<Contents>,
    with_vectors: bool,
) -> Result<impl Stream<Item = Result<Chunk, IndexError>> + Send + use<>, IndexError> {
    let columns = [URI, TITLE, METADATA, ORDINAL, TEXT].into_iter();
    let columns: Vec<&str> = columns.chain(with_vectors.then_some(VECTOR)).collect();
    let query = contents.table.query().select(Select::columns(&columns));
    let open = async {
        let opened = query.execute().await;
        opened.map_err(IndexError::during("read the chunks"))
    };
    let batches = contents.guarded(open).await?;
    let groups = stream::try_unfold((contents, batches), async |(contents, mut batches)| {
        let next = async {
            let next = batches.try_next().await;
            next.map_err(IndexError::during("read the chunks"))
        };
        let batch = contents.guarded(next).await?;
        Ok::<_, IndexError>(batch.map(|batch| (chunks(&batch), (contents, batches))))
    });
    let groups = groups.map_ok(|chunks| stream::iter(chunks.into_iter().map(Ok)));
    Ok(groups.try_flatten())
}

fn chunks(batch: &RecordBatch) -> Vec<Chunk> {
    let uris = batch[URI].as_string::<i32>();
    let titles = batch[TITLE].as_string::<i32>();
    let metadata = batch[METADATA].as_string::<i32>();
    let ordinals = batch[ORDINAL].as_primitive::<UInt32Type>();
    let texts = batch[TEXT].as_string::<i32>();
    let vectors = batch.column_by_name(VECTOR);
    let vectors = vectors.map(AsArray::as_fixed_size_list);
    let vector = |row| {
        let vectors = vectors.filter(|vectors| vectors.is_valid(row))?;
        let values = vectors.value(row);
        Some(values.as_primitive::<Float32Type>().values().to_vec())
    };
    let chunk = |row| Chunk {
        document: uris.value(row).to_owned(),
        title: titles.is_valid(row).then(|| titles.value(row).to_owned()),
        // The build wrote an object.
        metadata: serde_json::from_str(metadata.value(row)).unwrap_or_default(),
        ordinal: ordinals.value(row),
        text: texts.value(row).to_owned(),
        vector: vector(row),
    };
    (0..batch.num_rows()).map(chunk).collect()
}
