use std::collections::HashMap;

use arrow::array::{Array, AsArray};
use arrow::datatypes::UInt64Type;
use evals_rag::Passage;
use futures::TryStreamExt;
use lancedb::query::{ExecutableQuery, Select};
use lancedb::table::Table;

use super::Hit;
use crate::positions::Positions;
use crate::table::{ROW_ID, TEXT, TITLE};
use crate::{EngineError, IndexError};

/// Title and text of a chunk.
type Content = (Option<String>, String);

/// Fetches the texts of chunks, in their order.
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
    let mut contents = contents(row_ids.clone(), table).await?;
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

async fn contents(row_ids: Vec<u64>, table: &Table) -> Result<HashMap<u64, Content>, IndexError> {
    let failed = EngineError::during("read the texts of passages");
    let mut rows = table
        .take_row_ids(row_ids)
        .select(Select::columns(&[TITLE, TEXT, ROW_ID]))
        .execute()
        .await
        .map_err(&failed)?;
    let mut contents = HashMap::new();
    while let Some(batch) = rows.try_next().await.map_err(&failed)? {
        let titles = batch[TITLE].as_string::<i32>();
        let texts = batch[TEXT].as_string::<i32>();
        let row_ids = batch[ROW_ID].as_primitive::<UInt64Type>();
        for row in 0..batch.num_rows() {
            let title = titles.is_valid(row).then(|| titles.value(row).to_owned());
            contents.insert(row_ids.value(row), (title, texts.value(row).to_owned()));
        }
    }
    Ok(contents)
}
