//! Parquet: one row group after another, only the pages of the wanted columns, a few megabytes at a time.

use std::fs::File;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;
use parquet::schema::types::SchemaDescriptor;

use super::values::{self, CellFailure};
use super::{Content, Row, Rows, TableFile, shared};
use crate::error::{DataError, ParquetFailure, Place, Unit};
use crate::manifest::Column;

/// Uncompressed bytes aimed at for one batch; a batch has one row at least, however large.
const BATCH_BYTES: u64 = 4 << 20;
/// More rows at once gain nothing.
const MAX_BATCH_ROWS: u64 = 4096;

pub(super) fn rows(file: &TableFile, columns: &[Column]) -> Result<Rows, DataError> {
    let batches = match &file.content {
        Content::OnDisk(path) => {
            let opened = File::open(path).map_err(|source| file.unreadable(source))?;
            batches(file, opened, columns)?
        }
        Content::Bundled(bytes) => batches(file, shared(bytes), columns)?,
    };
    let rows = ParquetRows {
        file: file.clone(),
        columns: columns.to_vec(),
        batches,
        current: None,
        number: 0,
    };
    Ok(Box::new(rows))
}

fn batches<R: ChunkReader + 'static>(
    file: &TableFile,
    reader: R,
    columns: &[Column],
) -> Result<ParquetRecordBatchReader, DataError> {
    let failed = |error| failure(file, error);
    let builder = ParquetRecordBatchReaderBuilder::try_new(reader).map_err(failed)?;
    let schema = builder.parquet_schema();
    let mut leaves = Vec::new();
    for column in columns {
        let of_column = leaves_of(schema, column);
        if of_column.is_empty() {
            let names = schema
                .root_schema()
                .get_fields()
                .iter()
                .map(|field| field.name().to_owned());
            return Err(file.missing(column, names.collect()));
        }
        leaves.extend(of_column);
    }
    let batch_rows = batch_rows(builder.metadata(), &leaves);
    let mask = ProjectionMask::leaves(schema, leaves);
    builder
        .with_projection(mask)
        .with_batch_size(batch_rows)
        .build()
        .map_err(failed)
}

/// The leaf columns below a column reference: those of the top-level column with that whole name, or else those whose
/// path begins with its segments.
fn leaves_of(schema: &SchemaDescriptor, column: &Column) -> Vec<usize> {
    let below = |segments: &[String]| -> Vec<usize> {
        let begins = |leaf: &usize| schema.column(*leaf).path().parts().starts_with(segments);
        (0..schema.num_columns()).filter(begins).collect()
    };
    let whole = below(&[column.path()]);
    if whole.is_empty() {
        below(column.segments())
    } else {
        whole
    }
}

/// As many rows as make about [`BATCH_BYTES`] in the row group with the largest rows.
fn batch_rows(metadata: &ParquetMetaData, leaves: &[usize]) -> usize {
    let largest_row = metadata.row_groups().iter().map(|group| {
        let bytes: i64 = leaves
            .iter()
            .map(|&leaf| group.column(leaf).uncompressed_size())
            .sum();
        u64::try_from(bytes).unwrap_or(0) / u64::try_from(group.num_rows()).unwrap_or(0).max(1)
    });
    let rows = BATCH_BYTES / largest_row.max().unwrap_or(1).max(1);
    usize::try_from(rows.clamp(1, MAX_BATCH_ROWS)).expect("at most MAX_BATCH_ROWS")
}

fn failure(file: &TableFile, error: impl std::error::Error + Send + Sync + 'static) -> DataError {
    DataError::Parquet {
        file: file.name.clone(),
        source: ParquetFailure::new(error),
    }
}

struct ParquetRows {
    file: TableFile,
    columns: Vec<Column>,
    batches: ParquetRecordBatchReader,
    current: Option<Batch>,
    number: u64,
}

/// A batch that is being walked.
struct Batch {
    arrays: Vec<ArrayRef>,
    rows: usize,
    next: usize,
}

impl Batch {
    fn new(batch: &RecordBatch, columns: &[Column]) -> Self {
        let array =
            |column| values::array(batch, column).expect("the projection holds every column");
        Self {
            arrays: columns.iter().map(array).collect(),
            rows: batch.num_rows(),
            next: 0,
        }
    }
}

impl ParquetRows {
    fn place(&self) -> Place {
        Place {
            file: self.file.name.clone(),
            number: self.number,
            unit: Unit::Row,
        }
    }

    fn row(&mut self, batch: &mut Batch) -> Result<Row, DataError> {
        let row = batch.next;
        batch.next += 1;
        self.number += 1;
        let place = self.place();
        let cells = batch
            .arrays
            .iter()
            .map(|array| values::value(&Arc::clone(array), row))
            .collect::<Result<_, _>>();
        match cells {
            Ok(cells) => Ok(Row { place, cells }),
            Err(CellFailure::NotUtf8) => Err(DataError::NotUtf8 { place }),
            Err(CellFailure::Arrow(error)) => Err(failure(&self.file, error)),
        }
    }
}

impl Iterator for ParquetRows {
    type Item = Result<Row, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(mut batch) = self.current.take()
                && batch.next < batch.rows
            {
                let row = self.row(&mut batch);
                self.current = Some(batch);
                return Some(row);
            }
            match self.batches.next()? {
                Ok(batch) => self.current = Some(Batch::new(&batch, &self.columns)),
                Err(error) => return Some(Err(failure(&self.file, error))),
            }
        }
    }
}
