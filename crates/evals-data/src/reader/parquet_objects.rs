//! All columns of a parquet file, each row as an object.

use std::path::Path;

use serde_json::{Map, Value};

use super::{Content, TableFile, parquet_rows};
use crate::error::{DataError, Place};
use crate::manifest::Column;

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
        content: Content::OnDisk(path.to_owned()),
    };
    let names = parquet_rows::columns(&file, path)?;
    let columns: Vec<Column> = names.iter().map(|name| Column::whole(name)).collect();
    let rows = file.rows(&columns)?;
    Ok(rows.map(move |row| {
        let row = row?;
        let fields = names.iter().cloned().zip(row.cells);
        Ok((row.place, fields.collect()))
    }))
}
