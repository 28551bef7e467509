//! The map from rows to chunks and documents, kept in memory.

use std::ops::Range;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{UInt32Type, UInt64Type};
use futures::TryStreamExt;
use lancedb::query::{ExecutableQuery, QueryBase, Select};
use lancedb::table::Table;

use super::{ORDINAL, ROW_ID, URI};
use crate::address::Address;
use crate::engine_error::EngineError;
use crate::error::IndexError;

/// The document of each chunk of a table, kept in memory, so that a search asks the table for nothing but row numbers and scores.
///
/// Chunks are ordered by document and ordinal; the place of a chunk in this order is its *position*. The map needs the uri and 24 bytes
/// for each document, and nothing for each chunk.
#[derive(Debug, Clone, Default)]
pub(crate) struct Positions {
    uris: Vec<Box<str>>,
    /// Position of each document's first chunk.
    starts: Vec<usize>,
    rows: RowNumbers,
}

/// The numbers of a table's rows from 0, in the order in which they were written, by the engine's ids.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowNumbers {
    count: usize,
    by_number: Vec<Run>,
    /// Empty until [`sort`](Self::sort).
    by_row_id: Vec<Run>,
}

/// Consecutive row ids with consecutive numbers. Each fragment of the table is one run.
#[derive(Debug, Clone, Copy)]
struct Run {
    row_id: u64,
    number: usize,
    length: usize,
}

impl RowNumbers {
    pub(crate) async fn load(table: &Table) -> Result<Self, IndexError> {
        let failed = IndexError::during("read the numbers of the vectors");
        let rows = table.query().select(Select::columns(&[ROW_ID]));
        let mut rows = rows.execute().await.map_err(&failed)?;
        let mut numbers = Self::default();
        while let Some(batch) = rows.try_next().await.map_err(&failed)? {
            for row_id in batch[ROW_ID].as_primitive::<UInt64Type>().values() {
                numbers.push(*row_id);
            }
        }
        numbers.sort();
        Ok(numbers)
    }

    fn push(&mut self, row_id: u64) {
        match self.by_number.last_mut() {
            Some(run) if run.row_id + run.length as u64 == row_id => run.length += 1,
            _ => self.by_number.push(Run {
                row_id,
                number: self.count,
                length: 1,
            }),
        }
        self.count += 1;
    }

    /// Has to follow the last row.
    fn sort(&mut self) {
        self.by_row_id = self.by_number.clone();
        self.by_row_id.sort_unstable_by_key(|run| run.row_id);
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn number(&self, row_id: u64) -> Option<usize> {
        let next = self.by_row_id.partition_point(|run| run.row_id <= row_id);
        let run = self.by_row_id.get(next.checked_sub(1)?)?;
        let offset = usize::try_from(row_id - run.row_id).ok()?;
        (offset < run.length).then(|| run.number + offset)
    }

    fn row_id(&self, number: usize) -> u64 {
        let next = self.by_number.partition_point(|run| run.number <= number);
        let run = self.by_number[next - 1];
        run.row_id + (number - run.number) as u64
    }
}

impl Positions {
    /// Reads the uris and ordinals of the whole table. Fails if chunks are missing or out of order.
    pub(crate) async fn load(table: &Table, address: &Address) -> Result<Self, IndexError> {
        let failed = |source: lancedb::Error| {
            IndexError::unreadable(address.clone(), EngineError::new(source.into()))
        };
        let mut batches = table
            .query()
            .select(Select::columns(&[URI, ORDINAL]))
            .with_row_id()
            .execute()
            .await
            .map_err(failed)?;
        let mut positions = Self::default();
        while let Some(batch) = batches.try_next().await.map_err(failed)? {
            positions
                .extend(&batch)
                .map_err(|defect| IndexError::Damaged {
                    table: address.clone(),
                    defect,
                })?;
        }
        positions.rows.sort();
        Ok(positions)
    }

    pub(crate) fn documents(&self) -> usize {
        self.uris.len()
    }

    pub(crate) fn chunks(&self) -> usize {
        self.rows.count()
    }

    /// The uris in the order of the table.
    pub(crate) fn uris(&self) -> &[Box<str>] {
        &self.uris
    }

    /// The number of the document, from 0, that the chunk at `position` belongs to.
    pub(crate) fn document(&self, position: usize) -> usize {
        if self.documents() == self.chunks() {
            return position;
        }
        self.starts.partition_point(|start| *start <= position) - 1
    }

    pub(crate) fn uri(&self, document: usize) -> &str {
        &self.uris[document]
    }

    /// The chunk's number within its document.
    pub(crate) fn ordinal(&self, position: usize) -> u32 {
        u32::try_from(position - self.starts[self.document(position)])
            .expect("it was read from a column of this type")
    }

    /// Position of a document's first chunk.
    pub(crate) fn first_chunk(&self, document: usize) -> usize {
        self.starts[document]
    }

    /// The positions of a document's chunks.
    pub(crate) fn chunks_of(&self, document: usize) -> Range<usize> {
        let end = self.starts.get(document + 1).copied();
        self.starts[document]..end.unwrap_or(self.chunks())
    }

    pub(crate) fn position(&self, row_id: u64) -> Option<usize> {
        self.rows.number(row_id)
    }

    /// The row id of the chunk at `position`.
    pub(crate) fn row_id(&self, position: usize) -> u64 {
        self.rows.row_id(position)
    }

    /// Documents of one chunk each.
    #[cfg(test)]
    pub(crate) fn of_whole_documents(uris: &[&str]) -> Self {
        let mut positions = Self::default();
        for (row_id, uri) in (0..).zip(uris) {
            let pushed = positions.push(uri, 0, row_id);
            pushed.expect("a first chunk is in order");
        }
        positions.rows.sort();
        positions
    }

    fn extend(&mut self, batch: &RecordBatch) -> Result<(), String> {
        let uris = batch[URI].as_string::<i32>();
        let ordinals = batch[ORDINAL].as_primitive::<UInt32Type>();
        let row_ids = batch[ROW_ID].as_primitive::<UInt64Type>();
        for row in 0..batch.num_rows() {
            self.push(uris.value(row), ordinals.value(row), row_ids.value(row))?;
        }
        Ok(())
    }

    fn push(&mut self, uri: &str, ordinal: u32, row_id: u64) -> Result<(), String> {
        let chunks = self.chunks();
        if ordinal == 0 {
            self.uris.push(uri.into());
            self.starts.push(chunks);
        }
        let expected = self
            .starts
            .last()
            .map(|start| chunks - start)
            .filter(|_| self.uris.last().is_some_and(|last| **last == *uri));
        if expected != Some(ordinal as usize) {
            return Err(format!(
                "row {} is chunk {ordinal} of document `{uri}`, out of order",
                chunks + 1
            ));
        }
        self.rows.push(row_id);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, StringArray, UInt32Array, UInt64Array};

    use super::*;

    fn load(rows: &[(&str, u32, u64)]) -> Result<Positions, String> {
        let column = |array: ArrayRef| array;
        let batch = RecordBatch::try_from_iter([
            (
                URI,
                column(Arc::new(StringArray::from_iter_values(
                    rows.iter().map(|row| row.0),
                ))),
            ),
            (
                ORDINAL,
                column(Arc::new(UInt32Array::from_iter_values(
                    rows.iter().map(|row| row.1),
                ))),
            ),
            (
                ROW_ID,
                column(Arc::new(UInt64Array::from_iter_values(
                    rows.iter().map(|row| row.2),
                ))),
            ),
        ])
        .unwrap();
        let mut positions = Positions::default();
        positions.extend(&batch)?;
        positions.rows.sort();
        Ok(positions)
    }

    #[test]
    fn maps_rows_to_documents_and_back_across_fragments() {
        let fragment = 1 << 32;
        let positions = load(&[
            ("b", 0, 2 * fragment),
            ("b", 1, 2 * fragment + 1),
            ("a", 0, fragment),
            ("c", 0, fragment + 1),
            ("c", 1, fragment + 2),
        ])
        .unwrap();
        assert_eq!((positions.documents(), positions.chunks()), (3, 5));
        for position in 0..5 {
            assert_eq!(
                positions.position(positions.row_id(position)),
                Some(position)
            );
        }
        let documents: Vec<_> = (0..5)
            .map(|position| (positions.document(position), positions.ordinal(position)))
            .collect();
        assert_eq!(documents, [(0, 0), (0, 1), (1, 0), (2, 0), (2, 1)]);
        assert_eq!(positions.uri(2), "c");
        assert_eq!(positions.first_chunk(2), 3);
        assert_eq!(positions.position(0), None);
        assert_eq!(positions.position(fragment + 3), None);
    }

    #[test]
    fn a_missing_chunk_is_damage() {
        assert_eq!(
            load(&[("a", 0, 0), ("a", 2, 1)]).unwrap_err(),
            "row 2 is chunk 2 of document `a`, out of order"
        );
        assert_eq!(
            load(&[("a", 0, 0), ("b", 1, 1)]).unwrap_err(),
            "row 2 is chunk 1 of document `b`, out of order"
        );
        assert!(load(&[("a", 1, 0)]).is_err());
    }
}
