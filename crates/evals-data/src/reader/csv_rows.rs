//! Rows of CSV with a header line. Every value is a string, and an empty one is null.

use evals_guard::csv::{self, CsvError};
use serde_json::Value;

use super::{Row, Rows, TableFile, Text};
use crate::error::{DataError, Place};
use crate::manifest::Column;

/// Separators other than the comma. One of them is used if the header has all requested columns with it, but not with the comma: then
/// there is no other way to read the file.
const OTHER_SEPARATORS: [u8; 2] = [b';', b'\t'];

pub(super) fn rows(
    file: &TableFile,
    columns: &[Column],
    compressed: bool,
) -> Result<Rows, DataError> {
    let open = |separator| CsvFile::open(file, separator, compressed);
    let usual = match open(b',') {
        Ok(table) if table.has_all(columns) => return table.rows(columns),
        // Split at commas, `"id";"text"` has text after a closing quote.
        Err(error) if !matches!(error, DataError::Row { .. }) => return Err(error),
        usual => usual,
    };
    let others = OTHER_SEPARATORS
        .into_iter()
        .filter_map(|one| open(one).ok());
    let mut others: Vec<CsvFile<'_>> = others.collect();
    if let Some(fitting) = others.iter().position(|table| table.has_all(columns)) {
        return others.swap_remove(fitting).rows(columns);
    }
    // No separator gives all columns, so the error names the columns of the most likely one.
    let width = usual.as_ref().map_or(1, |table| table.rows.header().len());
    let wider = others
        .into_iter()
        .find(|table| table.rows.header().len() > width);
    wider.map_or(usual, Ok)?.rows(columns)
}

/// A file whose header has been read.
struct CsvFile<'f> {
    file: &'f TableFile,
    separator: u8,
    rows: csv::Table<Text>,
}

impl<'f> CsvFile<'f> {
    fn open(file: &'f TableFile, separator: u8, compressed: bool) -> Result<Self, DataError> {
        let rows = csv::Table::open(file.text(compressed)?, separator);
        Ok(Self {
            file,
            separator,
            rows: rows.map_err(|error| failed(file, error))?,
        })
    }

    fn has_all(&self, columns: &[Column]) -> bool {
        columns
            .iter()
            .all(|column| self.rows.header().contains(&column.path()))
    }

    fn rows(self, columns: &[Column]) -> Result<Rows, DataError> {
        let positions = columns
            .iter()
            .map(|column| self.position(column))
            .collect::<Result<_, _>>()?;
        Ok(Box::new(CsvRows {
            file: self.file.clone(),
            rows: self.rows,
            positions,
        }))
    }

    /// The index of a column. A name that occurs twice is an error.
    fn position(&self, column: &Column) -> Result<usize, DataError> {
        let mut found = self
            .rows
            .header()
            .iter()
            .enumerate()
            .filter(|(_, name)| **name == column.path());
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            (Some(_), Some(_)) => Err(DataError::file(
                &self.file.name,
                format!("has two columns `{}`; rename one of them", column.path()),
            )),
            (None, _) => Err(self.file.missing(
                column,
                self.rows.header(),
                match self.separator {
                    b',' => "",
                    b'\t' => ", separated by tabs",
                    _ => ", separated by `;`",
                },
            )),
        }
    }
}

struct CsvRows {
    file: TableFile,
    rows: csv::Table<Text>,
    positions: Vec<usize>,
}

impl CsvRows {
    fn advance(&mut self) -> Result<Option<Row>, CsvError> {
        let Some(row) = self.rows.row()? else {
            return Ok(None);
        };
        let cell = |&position: &usize| match row.text(position)? {
            "" => Ok(Value::Null),
            text => Ok(Value::from(text)),
        };
        Ok(Some(Row {
            place: Place::line(&self.file.name, row.line()),
            cells: self
                .positions
                .iter()
                .map(cell)
                .collect::<Result<_, CsvError>>()?,
        }))
    }
}

impl Iterator for CsvRows {
    type Item = Result<Row, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = self.advance();
        row.map_err(|error| failed(&self.file, error)).transpose()
    }
}

fn failed(file: &TableFile, error: CsvError) -> DataError {
    match error {
        CsvError::Io(source) => file.unreadable(source),
        CsvError::Fault { line, fault } => Place::line(&file.name, line).fails(fault.to_string()),
    }
}
