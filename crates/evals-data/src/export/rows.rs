//! Writes the rows of a table, as JSON Lines or parquet.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use arrow::array::{ArrayRef, FixedSizeListBuilder, Float32Builder, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use super::ExportError;
use super::ExportFormat;
use super::staging::Staging;

/// Bytes of cells after which a group of rows is written.
const GROUP: usize = 16 << 20;

/// Writes one table. Memory does not grow with the number of rows.
pub(super) struct RowWriter<'s> {
    staging: &'s Staging,
    name: String,
    columns: Vec<&'static str>,
    file: RowsFile,
}

enum RowsFile {
    JsonLines(BufWriter<File>),
    Parquet(Box<Parquet>),
}

/// A table of texts, and of vectors in a last column.
pub(super) struct Parquet {
    writer: ArrowWriter<File>,
    schema: Arc<Schema>,
    builders: Vec<StringBuilder>,
    vectors: Option<FixedSizeListBuilder<Float32Builder>>,
    bytes: usize,
}

impl<'s> RowWriter<'s> {
    pub(super) fn create(
        staging: &'s Staging,
        table: &str,
        format: ExportFormat,
        columns: Vec<&'static str>,
    ) -> Result<Self, ExportError> {
        let name = format!("{table}.{}", format.extension());
        let file = File::create_new(staging.path(&name)).and_then(|file| match format {
            ExportFormat::Parquet => Parquet::new(file, &columns, None)
                .map(Box::new)
                .map(RowsFile::Parquet),
            _ => Ok(RowsFile::JsonLines(BufWriter::with_capacity(1 << 16, file))),
        });
        Ok(Self {
            file: file.map_err(|source| staging.failed(&name, source))?,
            staging,
            name,
            columns,
        })
    }

    /// Writes a row. Cells behind the last column are ignored.
    pub(super) fn write(&mut self, cells: &[Value]) -> Result<(), ExportError> {
        let written = match &mut self.file {
            RowsFile::JsonLines(file) => write_line(file, &self.columns, cells),
            RowsFile::Parquet(parquet) => parquet.write(cells, None),
        };
        written.map_err(|source| self.staging.failed(&self.name, source))
    }

    pub(super) fn finish(self) -> Result<(), ExportError> {
        let finished = match self.file {
            RowsFile::JsonLines(file) => sync(file),
            RowsFile::Parquet(parquet) => parquet.finish(),
        };
        finished.map_err(|source| self.staging.failed(&self.name, source))
    }
}

/// Writes what is still in memory, and waits for the disk.
pub(super) fn sync(file: BufWriter<File>) -> io::Result<()> {
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()
}

/// An object with the columns in their order.
fn write_line(file: &mut impl Write, columns: &[&str], cells: &[Value]) -> io::Result<()> {
    for (index, (name, cell)) in columns.iter().zip(cells).enumerate() {
        file.write_all(if index == 0 { b"{" } else { b", " })?;
        serde_json::to_writer(&mut *file, name)?;
        file.write_all(b": ")?;
        serde_json::to_writer(&mut *file, cell)?;
    }
    file.write_all(b"}\n")
}

impl Parquet {
    /// A table with these columns of texts, and with a column of vectors of this many dimensions if there are any.
    pub(super) fn new(file: File, columns: &[&str], dimension: Option<i32>) -> io::Result<Self> {
        let texts = columns
            .iter()
            .map(|name| Field::new(*name, DataType::Utf8, true));
        let vectors = dimension.map(|dimension| {
            let item = Field::new("item", DataType::Float32, true);
            Field::new_fixed_size_list("vector", item, dimension, true)
        });
        let fields: Vec<Field> = texts.chain(vectors).collect();
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties));
        Ok(Self {
            writer: writer.map_err(io::Error::other)?,
            builders: columns.iter().map(|_| StringBuilder::new()).collect(),
            vectors: dimension.map(|it| FixedSizeListBuilder::new(Float32Builder::new(), it)),
            schema,
            bytes: 0,
        })
    }

    /// Writes texts as they are, and other values as their JSON. A vector has the dimensions of its column.
    pub(super) fn write(&mut self, cells: &[Value], vector: Option<&[f32]>) -> io::Result<()> {
        for (cell, builder) in cells.iter().zip(&mut self.builders) {
            let json;
            let text = match cell {
                Value::Null => {
                    builder.append_null();
                    continue;
                }
                Value::String(text) => text,
                other => {
                    json = other.to_string();
                    &json
                }
            };
            self.bytes += text.len();
            builder.append_value(text);
        }
        if let Some(vectors) = &mut self.vectors {
            let width = usize::try_from(vectors.value_length()).unwrap_or_default();
            match vector {
                Some(vector) => vectors.values().append_slice(vector),
                None => vectors.values().append_nulls(width),
            }
            vectors.append(vector.is_some());
            self.bytes += width * size_of::<f32>();
        }
        if self.bytes >= GROUP {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let texts = self.builders.iter_mut();
        let texts = texts.map(|builder| Arc::new(builder.finish()) as ArrayRef);
        let vectors = self.vectors.as_mut();
        let vectors = vectors.map(|builder| Arc::new(builder.finish()) as ArrayRef);
        let columns: Vec<ArrayRef> = texts.chain(vectors).collect();
        self.bytes = 0;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let batch = batch.map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(io::Error::other)?;
        self.writer.flush().map_err(io::Error::other)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        let file = self.writer.into_inner().map_err(io::Error::other)?;
        file.sync_all()
    }
}
