use arrow::array::AsArray;
use arrow::datatypes::{Float32Type, UInt64Type};
use futures::TryStreamExt;
use lancedb::arrow::SendableRecordBatchStream;

use super::Hit;
use crate::positions::Positions;
use crate::table::ROW_ID;
use crate::{EngineError, IndexError};

/// Reads row ids and the numbers in `column`, and turns these into scores.
pub(super) async fn read(
    mut rows: SendableRecordBatchStream,
    column: &str,
    positions: &Positions,
    score: impl Fn(f32) -> f32,
) -> Result<Vec<Hit>, IndexError> {
    let mut hits = Vec::new();
    while let Some(batch) = rows
        .try_next()
        .await
        .map_err(EngineError::during("read search results"))?
    {
        let row_ids = batch[ROW_ID].as_primitive::<UInt64Type>();
        let numbers = batch[column].as_primitive::<Float32Type>();
        for (row_id, number) in row_ids.values().iter().zip(numbers.values()) {
            let position = positions
                .position(*row_id)
                .ok_or(IndexError::Changed { row_id: *row_id })?;
            hits.push(Hit::new(position, score(*number)));
        }
    }
    Ok(hits)
}
