//! Writes the rows of a table, as JSON Lines or parquet.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use arrow::array::{ArrayRef, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::Value;

use super::ExportFormat;
use super::error::ExportError;
use super::staging::Staging;

/// Bytes of cells after which a group of rows is written.
const GROUP: usize = 16 << 20;

/// The kind of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A text or null.
    Text,
    /// Any value; in parquet its JSON.
    Json,
}

/// Writes one table. Memory does not grow with the number of rows.
pub(super) struct RowWriter<'s> {
    staging: &'s Staging,
    name: String,
    columns: &'s [(&'s str, Kind)],
    file: Table,
}

enum Table {
    JsonLines(BufWriter<File>),
    Parquet(Box<Parquet>),
}

struct Parquet {
    writer: ArrowWriter<File>,
    schema: Arc<Schema>,
    builders: Vec<StringBuilder>,
    bytes: usize,
}

impl<'s> RowWriter<'s> {
    pub(super) fn create(
        staging: &'s Staging,
        table: &str,
        format: ExportFormat,
        columns: &'s [(&'s str, Kind)],
    ) -> Result<Self, ExportError> {
        let extension = match format {
            ExportFormat::Parquet => "parquet",
            ExportFormat::JsonLines | ExportFormat::Text => "jsonl",
        };
        let name = format!("{table}.{extension}");
        let file = File::create_new(staging.path(&name)).and_then(|file| match format {
            ExportFormat::Parquet => Parquet::new(file, columns)
                .map(Box::new)
                .map(Table::Parquet),
            ExportFormat::JsonLines | ExportFormat::Text => {
                Ok(Table::JsonLines(BufWriter::with_capacity(1 << 16, file)))
            }
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
            Table::JsonLines(file) => write_line(file, self.columns, cells),
            Table::Parquet(parquet) => parquet.write(self.columns, cells),
        };
        written.map_err(|source| self.staging.failed(&self.name, source))
    }

    pub(super) fn finish(self) -> Result<(), ExportError> {
        let finished = match self.file {
            Table::JsonLines(file) => file
                .into_inner()
                .map_err(io::IntoInnerError::into_error)
                .and_then(|file| file.sync_all()),
            Table::Parquet(parquet) => parquet.finish(),
        };
        finished.map_err(|source| self.staging.failed(&self.name, source))
    }
}

/// An object with the columns in their order.
fn write_line(file: &mut impl Write, columns: &[(&str, Kind)], cells: &[Value]) -> io::Result<()> {
    for (index, ((name, _), cell)) in columns.iter().zip(cells).enumerate() {
        file.write_all(if index == 0 { b"{" } else { b", " })?;
        serde_json::to_writer(&mut *file, name)?;
        file.write_all(b": ")?;
        serde_json::to_writer(&mut *file, cell)?;
    }
    file.write_all(b"}\n")
}

impl Parquet {
    fn new(file: File, columns: &[(&str, Kind)]) -> io::Result<Self> {
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, _)| Field::new(*name, DataType::Utf8, true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties));
        Ok(Self {
            writer: writer.map_err(io::Error::other)?,
            builders: columns.iter().map(|_| StringBuilder::new()).collect(),
            schema,
            bytes: 0,
        })
    }

    fn write(&mut self, columns: &[(&str, Kind)], cells: &[Value]) -> io::Result<()> {
        for (((_, kind), cell), builder) in columns.iter().zip(cells).zip(&mut self.builders) {
            match (kind, cell) {
                (Kind::Text, Value::Null) => builder.append_null(),
                (Kind::Text, Value::String(text)) => {
                    self.bytes += text.len();
                    builder.append_value(text);
                }
                (_, value) => {
                    let json = value.to_string();
                    self.bytes += json.len();
                    builder.append_value(json);
                }
            }
        }
        if self.bytes >= GROUP {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let columns: Vec<ArrayRef> = self
            .builders
            .iter_mut()
            .map(|builder| Arc::new(builder.finish()) as ArrayRef)
            .collect();
        self.bytes = 0;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let batch = batch.map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(io::Error::other)?;
        self.writer.flush().map_err(io::Error::other)
    }

    fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        let file = self.writer.into_inner().map_err(io::Error::other)?;
        file.sync_all()
    }
}
