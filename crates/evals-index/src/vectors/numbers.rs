//! The numbers of vectors, by the engine's numbers of their rows.

use arrow::array::AsArray;
use arrow::datatypes::UInt64Type;
use futures::TryStreamExt;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use lancedb::table::Table;

use crate::error::IndexError;
use crate::table::ROW_ID;

/// The numbers of vectors from 0, in the order in which they were written.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// Rows whose ids and numbers both ascend by one, by id.
    runs: Vec<Run>,
    count: u32,
}

#[derive(Debug, Clone, Copy)]
struct Run {
    row_id: u64,
    number: u32,
    length: u32,
}

impl Numbers {
    pub(super) async fn load(table: &Table) -> Result<Self, IndexError> {
        let failed = IndexError::during("read the numbers of the vectors");
        let rows = table.query().select(Select::columns(&[ROW_ID]));
        let mut rows = rows.execute().await.map_err(&failed)?;
        let mut numbers = Self::default();
        while let Some(batch) = rows.try_next().await.map_err(&failed)? {
            for row_id in batch[ROW_ID].as_primitive::<UInt64Type>().values() {
                numbers.push(*row_id);
            }
        }
        numbers.runs.sort_unstable_by_key(|run| run.row_id);
        Ok(numbers)
    }

    fn push(&mut self, row_id: u64) {
        match self.runs.last_mut() {
            Some(run) if run.row_id + u64::from(run.length) == row_id => run.length += 1,
            _ => self.runs.push(Run {
                row_id,
                number: self.count,
                length: 1,
            }),
        }
        self.count += 1;
    }

    pub(super) fn count(&self) -> usize {
        self.count as usize
    }

    pub(super) fn number(&self, row_id: u64) -> Option<u32> {
        let next = self.runs.partition_point(|run| run.row_id <= row_id);
        let run = self.runs.get(next.checked_sub(1)?)?;
        let offset = u32::try_from(row_id - run.row_id).ok()?;
        (offset < run.length).then(|| run.number + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_numbered_in_the_order_of_the_table() {
        let mut numbers = Numbers::default();
        for row_id in [1 << 32, (1 << 32) + 1, 5, 6, 7] {
            numbers.push(row_id);
        }
        numbers.runs.sort_unstable_by_key(|run| run.row_id);
        assert_eq!(numbers.count(), 5);
        let found = [5, 7, 8, 1 << 32, (1 << 32) + 2].map(|row_id| numbers.number(row_id));
        assert_eq!(found, [Some(2), Some(4), None, Some(0), None]);
    }
}
