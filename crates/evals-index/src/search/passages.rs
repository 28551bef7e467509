//! Reading the texts of chunks that a search found.

use std::collections::HashMap;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::UInt64Type;
use evals_rag::Passage;
use lancedb::table::Table;

use super::hit::Hit;
use crate::error::IndexError;
use crate::table::positions::Positions;
use crate::table::{self, ROW_ID, TEXT, TITLE};

/// The passages of chunks, in the same order.
pub(crate) async fn fetch(
    hits: &[Hit],
    table: &Table,
    positions: &Positions,
) -> Result<Vec<Passage>, IndexError> {
    if hits.is_empty() {
        return Ok(Vec::new());
    }
    let row_ids: Vec<_> = hits
        .iter()
        .map(|hit| positions.row_id(hit.position))
        .collect();
    let mut contents = by_row_id(&read(&row_ids, table).await?);
    hits.iter()
        .zip(row_ids)
        .map(|(hit, row_id)| {
            let (title, text) = contents
                .remove(&row_id)
                .ok_or(IndexError::Changed { row_id })?;
            Ok(passage(*hit, title, text, positions))
        })
        .collect()
}

fn passage(hit: Hit, title: Option<String>, text: String, positions: &Positions) -> Passage {
    let document = positions.document(hit.position);
    Passage {
        document: positions.uri(document).to_owned(),
        title,
        ordinal: positions.ordinal(hit.position),
        text,
        score: hit.score,
    }
}

/// Reads chunks, in any order, directly, which saves planning a query.
async fn read(row_ids: &[u64], table: &Table) -> Result<RecordBatch, IndexError> {
    let read = async {
        let dataset = table::dataset(table).await?;
        let columns = [TITLE, TEXT, ROW_ID];
        let columns = dataset.schema().project_preserve_system_columns(&columns)?;
        let rows = dataset.take_builder(row_ids, columns)?.execute().await?;
        Ok::<_, lancedb::Error>(rows)
    };
    read.await
        .map_err(IndexError::during("read the texts of passages"))
}

/// Title and text of each chunk.
fn by_row_id(batch: &RecordBatch) -> HashMap<u64, (Option<String>, String)> {
    let titles = batch[TITLE].as_string::<i32>();
    let texts = batch[TEXT].as_string::<i32>();
    let row_ids = batch[ROW_ID].as_primitive::<UInt64Type>();
    let content = |row| {
        let title = titles.is_valid(row).then(|| titles.value(row).to_owned());
        (row_ids.value(row), (title, texts.value(row).to_owned()))
    };
    (0..batch.num_rows()).map(content).collect()
}
