//! Rows of parquet: one row group after another, only the pages of the requested columns, a few megabytes at a time.

use std::borrow::Cow;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchReader};
use arrow::datatypes::{DataType, Fields, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;
use parquet::schema::types::SchemaDescriptor;
use serde_json::{Map, Value};

use super::json_objects::descend;
use super::values::{self, CellFailure};
use super::{FileContent, Row, Rows, TableFile};
use crate::error::{DataError, Place, Unit};
use crate::manifest::Column;
use crate::parquet_footer::{self, guarded};

/// The intended uncompressed size of a batch. A batch has at least one row, however large.
const BATCH_BYTES: u64 = 4 << 20;
/// More rows in a batch make reading no faster.
const MAX_BATCH_ROWS: u64 = 4096;

/// The names of a file's columns, in its order.
pub(super) fn columns(file: &TableFile, path: &Path) -> Result<Vec<String>, DataError> {
    let opened = guarded(|| {
        let reader = File::open(path).map_err(|source| file.unreadable(source))?;
        parquet_footer::check(&reader).map_err(|error| failure(file, error))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(reader);
        let builder = builder.map_err(|error| failure(file, error))?;
        let fields = builder.schema().fields().iter();
        Ok(fields.map(|field| field.name().clone()).collect())
    });
    opened.map_err(|panicked| failure(file, panicked))?
}

pub(super) fn rows(file: &TableFile, columns: &[Column]) -> Result<Rows, DataError> {
    let opened = guarded(|| match &file.content {
        FileContent::OnDisk(path) | FileContent::Cached(path) => {
            let opened = File::open(path).map_err(|source| file.unreadable(source))?;
            batches(file, opened, columns)
        }
        FileContent::InMemory(bytes) => batches(file, bytes.clone(), columns),
    });
    let (batches, positions) = opened.map_err(|panicked| failure(file, panicked))??;
    let rows = ParquetRows {
        file: file.clone(),
        positions,
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
) -> Result<(ParquetRecordBatchReader, Vec<Position>), DataError> {
    let failed = |error| failure(file, error);
    parquet_footer::check(&reader).map_err(failed)?;
    let builder = ParquetRecordBatchReaderBuilder::try_new(reader).map_err(failed)?;
    let schema = builder.parquet_schema();
    let all = positions(file, builder.schema(), columns)?;
    let leaves: Vec<usize> = all
        .iter()
        .flat_map(|position| leaves_of(schema, position))
        .collect();
    let batch_rows = batch_rows(builder.metadata(), &leaves);
    let mask = ProjectionMask::leaves(schema, leaves);
    let batches = builder
        .with_projection(mask)
        .with_batch_size(batch_rows)
        .build()
        .map_err(failed)?;
    // Positions change when columns are excluded.
    let projected = positions(file, &batches.schema(), columns)?;
    Ok((batches, projected))
}

/// The positions of the columns; the error names the first missing column.
fn positions(
    file: &TableFile,
    schema: &Schema,
    columns: &[Column],
) -> Result<Vec<Position>, DataError> {
    let position = |column| {
        Position::find(schema, column).ok_or_else(|| {
            let names = schema.fields().iter().map(|field| field.name().clone());
            file.missing(column, &names.collect::<Vec<_>>(), "")
        })
    };
    columns.iter().map(position).collect()
}

/// The leaf columns below a field. Between a list and the fields of its elements, a path has names of parquet's own.
fn leaves_of(schema: &SchemaDescriptor, position: &Position) -> Vec<usize> {
    let is_below = |leaf: &usize| {
        let path = schema.column(*leaf);
        let Some(rest) = path.path().parts().strip_prefix(&*position.names) else {
            return false;
        };
        let mut rest = rest.iter();
        position
            .inner
            .iter()
            .all(|name| rest.any(|part| part == name))
    };
    (0..schema.num_columns()).filter(is_below).collect()
}

/// The number of rows that make about [`BATCH_BYTES`] in the row group with the largest rows.
fn batch_rows(metadata: &ParquetMetaData, leaves: &[usize]) -> usize {
    let largest_row = metadata.row_groups().iter().map(|group| {
        let bytes = leaves.iter().fold(0_u64, |bytes, &leaf| {
            let size = group.column(leaf).uncompressed_size();
            bytes.saturating_add(u64::try_from(size).unwrap_or(0))
        });
        bytes / u64::try_from(group.num_rows()).unwrap_or(0).max(1)
    });
    let rows = BATCH_BYTES / largest_row.max().unwrap_or(1).max(1);
    usize::try_from(rows.clamp(1, MAX_BATCH_ROWS)).expect("at most MAX_BATCH_ROWS")
}

fn failure(file: &TableFile, error: impl std::error::Error + Send + Sync + 'static) -> DataError {
    // The blob instead of the link to it: if only the link is deleted, the next run links the same blob again.
    let cached = match &file.content {
        FileContent::Cached(path) => Some(path.canonicalize().unwrap_or_else(|_| path.clone())),
        FileContent::OnDisk(_) | FileContent::InMemory(_) => None,
    };
    DataError::Parquet {
        file: file.name.clone(),
        cached,
        source: Box::new(error),
    }
}

struct ParquetRows {
    file: TableFile,
    positions: Vec<Position>,
    batches: ParquetRecordBatchReader,
    current: Option<Batch>,
    number: u64,
}

/// A batch and the next row in it.
struct Batch {
    /// The columns, and the names of the wanted fields inside the elements of lists.
    columns: Vec<(ArrayRef, Vec<String>)>,
    rows: usize,
    next: usize,
}

impl Batch {
    fn new(batch: &RecordBatch, positions: &[Position]) -> Self {
        Self {
            columns: positions
                .iter()
                .map(|position| (position.array(batch), position.inner.clone()))
                .collect(),
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
        let cells = batch.columns.iter().map(|(array, inner)| {
            let value = values::value(&Arc::clone(array), row)?;
            if inner.is_empty() {
                return Ok(value);
            }
            let wanted = descend(&value, inner);
            Ok(wanted.map(Cow::into_owned).unwrap_or_default())
        });
        let cells = cells.collect::<Result<_, _>>();
        match cells {
            Ok(cells) => Ok(Row { place, cells }),
            Err(CellFailure::NotUtf8) => Err(place.not_utf8()),
            Err(CellFailure::Arrow(error)) => Err(failure(&self.file, error)),
        }
    }
}

impl ParquetRows {
    fn advance(&mut self) -> Option<Result<Row, DataError>> {
        loop {
            if let Some(mut batch) = self.current.take()
                && batch.next < batch.rows
            {
                let row = self.row(&mut batch);
                self.current = Some(batch);
                return Some(row);
            }
            match self.batches.next()? {
                Ok(batch) => self.current = Some(Batch::new(&batch, &self.positions)),
                Err(error) => return Some(Err(failure(&self.file, error))),
            }
        }
    }
}

impl Iterator for ParquetRows {
    type Item = Result<Row, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        guarded(|| self.advance())
            .unwrap_or_else(|panicked| Some(Err(failure(&self.file, panicked))))
    }
}

/// A row and its place.
type Placed = (Place, Map<String, Value>);

/// The rows of a parquet file with all their columns, up to the first error, each with its place. A value that is missing is
/// `null`.
///
/// # Errors
///
/// The file cannot be read, or is no parquet file.
pub fn parquet_objects(
    path: &Path,
) -> Result<impl Iterator<Item = Result<Placed, DataError>> + use<>, DataError> {
    let file = TableFile {
        name: path.display().to_string(),
        uri: path.display().to_string(),
        content: FileContent::OnDisk(path.to_owned()),
    };
    let names = columns(&file, path)?;
    let columns: Vec<Column> = names.iter().map(|name| Column::whole(name)).collect();
    let rows = file.rows(&columns)?;
    Ok(rows.map(move |row| {
        let row = row?;
        let fields = names.iter().cloned().zip(row.cells);
        Ok((row.place, fields.collect()))
    }))
}

/// The place of a column in a schema: a top-level column, and then from struct to field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// The fields' names, outermost first, up to the first list.
    pub(super) names: Vec<String>,
    /// The fields' places among their siblings, outermost first.
    places: Vec<usize>,
    /// The names of the fields inside the elements of that list.
    inner: Vec<String>,
}

impl Position {
    /// The place of a column. A top-level column whose name is the whole reference takes precedence. Fields of maps have no references.
    pub(super) fn find(schema: &Schema, column: &Column) -> Option<Self> {
        let whole = Self::descend(schema.fields(), &[column.path()]);
        whole.or_else(|| Self::descend(schema.fields(), column.segments()))
    }

    fn descend(fields: &Fields, names: &[String]) -> Option<Self> {
        let mut fields = fields;
        let mut places = Vec::with_capacity(names.len());
        for (depth, name) in names.iter().enumerate() {
            let (place, field) = fields.find(name)?;
            places.push(place);
            let (outer, inner) = names.split_at(depth + 1);
            match field.data_type() {
                DataType::Struct(within) if !inner.is_empty() => fields = within,
                kind if has_fields(kind, inner) => {
                    return Some(Self {
                        names: outer.to_vec(),
                        places,
                        inner: inner.to_vec(),
                    });
                }
                _ => return None,
            }
        }
        None
    }

    /// The column's array in a batch of the schema in which it was found.
    pub(super) fn array(&self, batch: &RecordBatch) -> ArrayRef {
        let (first, rest) = self
            .places
            .split_first()
            .expect("a column has one segment at least");
        rest.iter()
            .fold(batch.column(*first).clone(), |array, place| {
                array.as_struct().column(*place).clone()
            })
    }
}

/// Whether a value of this kind has the nested field, perhaps in each element of lists.
fn has_fields(kind: &DataType, names: &[String]) -> bool {
    let Some((first, rest)) = names.split_first() else {
        return true;
    };
    match kind {
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::FixedSizeList(element, _) => has_fields(element.data_type(), names),
        DataType::Struct(fields) => {
            let field = fields.find(first);
            field.is_some_and(|(_, field)| has_fields(field.data_type(), rest))
        }
        _ => false,
    }
}
