//! Writing columns as a parquet file.

use std::sync::Arc;

use arrow::array::{ArrayRef, ListBuilder, RecordBatch, StringArray, StringBuilder};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::error::SampleError;

/// A column of strings.
pub(crate) fn strings<'t>(values: impl Iterator<Item = &'t str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

/// A column of lists of strings.
pub(crate) fn lists<'t>(values: impl Iterator<Item = &'t [String]>) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for list in values {
        lists.append_value(list.iter().map(Some));
    }
    Arc::new(lists.finish())
}

/// The columns as a parquet file, without metadata that changes between versions of the writer or only takes space.
pub(crate) fn parquet(columns: Vec<(&str, ArrayRef)>) -> Result<Vec<u8>, SampleError> {
    let batch = RecordBatch::try_from_iter(columns)?;
    let properties = WriterProperties::builder()
        .set_created_by("evaluations".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(19)?))
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new_with_options(&mut bytes, batch.schema(), options)?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(bytes)
}
