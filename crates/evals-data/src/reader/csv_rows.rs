//! Rows of CSV with a header line. Every value is a string, and an empty one is null.

use serde_json::Value;

use super::csv_records::{Failure, Record, Records};
use super::{Row, Rows, TableFile, Text};
use crate::error::{CsvFault, DataError, Place, Unit};
use crate::manifest::Column;

/// Separators other than the comma. One of them is used if the header has all requested columns with it, but not with the comma: then
/// there is no other way to read the file.
const OTHER_SEPARATORS: [u8; 2] = [b';', b'\t'];

pub(super) fn rows(
    file: &TableFile,
    columns: &[Column],
    compressed: bool,
) -> Result<Rows, DataError> {
    let open = |separator| Table::open(file, separator, compressed);
    let usual = match open(b',') {
        Ok(table) if table.has_all(columns) => return table.rows(columns),
        // Split at commas, `"id";"text"` has text after a closing quote.
        Err(error) if !matches!(error, DataError::Csv { .. }) => return Err(error),
        usual => usual,
    };
    let others = OTHER_SEPARATORS
        .into_iter()
        .filter_map(|one| open(one).ok());
    let mut others: Vec<Table<'_>> = others.collect();
    if let Some(fitting) = others.iter().position(|table| table.has_all(columns)) {
        return others.swap_remove(fitting).rows(columns);
    }
    // No separator gives all columns, so the error names the columns of the most likely one.
    let width = usual.as_ref().map_or(1, |table| table.header.len());
    let wider = others.into_iter().find(|table| table.header.len() > width);
    wider.map_or(usual, Ok)?.rows(columns)
}

/// A file whose header has been read.
struct Table<'f> {
    file: &'f TableFile,
    separator: u8,
    records: Records<Text>,
    header: Vec<String>,
}

impl<'f> Table<'f> {
    fn open(file: &'f TableFile, separator: u8, compressed: bool) -> Result<Self, DataError> {
        let mut records = Records::new(file.text(compressed)?, separator);
        let mut record = Record::default();
        let mut header = Vec::new();
        if records
            .read(&mut record)
            .map_err(|error| failed(file, error))?
        {
            for index in 0..record.len() {
                let name = record.text(index);
                let name = name.map_err(|line| DataError::NotUtf8 {
                    place: place(&file.name, line),
                })?;
                header.push(name.to_owned());
            }
        }
        Ok(Self {
            file,
            separator,
            records,
            header,
        })
    }

    fn has_all(&self, columns: &[Column]) -> bool {
        columns
            .iter()
            .all(|column| self.header.contains(&column.path()))
    }

    fn rows(self, columns: &[Column]) -> Result<Rows, DataError> {
        let positions = columns
            .iter()
            .map(|column| self.position(column))
            .collect::<Result<_, _>>()?;
        Ok(Box::new(CsvRows {
            file: self.file.clone(),
            records: self.records,
            width: self.header.len(),
            positions,
            record: Record::default(),
        }))
    }

    /// The index of a column. A name that occurs twice is an error.
    fn position(&self, column: &Column) -> Result<usize, DataError> {
        let mut found = self
            .header
            .iter()
            .enumerate()
            .filter(|(_, name)| **name == column.path());
        match (found.next(), found.next()) {
            (Some((index, _)), None) => Ok(index),
            (Some(_), Some(_)) => Err(DataError::RepeatedColumn {
                file: self.file.name.clone(),
                column: column.path(),
            }),
            (None, _) => Err(DataError::MissingColumn {
                file: self.file.name.clone(),
                column: column.path(),
                columns: self.header.clone(),
                separator: Some(char::from(self.separator)).filter(|&separator| separator != ','),
            }),
        }
    }
}

struct CsvRows {
    file: TableFile,
    records: Records<Text>,
    /// Fields of the header.
    width: usize,
    positions: Vec<usize>,
    record: Record,
}

impl CsvRows {
    fn advance(&mut self) -> Result<Option<Row>, DataError> {
        let read = self.records.read(&mut self.record);
        if !read.map_err(|error| failed(&self.file, error))? {
            return Ok(None);
        }
        let place = place(&self.file.name, self.record.line());
        if self.record.len() != self.width {
            return Err(DataError::Csv {
                place,
                fault: CsvFault::Ragged {
                    fields: self.record.len(),
                    header: self.width,
                },
            });
        }
        let cell = |&position: &usize| match self.record.text(position) {
            Ok("") => Ok(Value::Null),
            Ok(text) => Ok(Value::from(text)),
            Err(line) => Err(DataError::NotUtf8 {
                place: self::place(&self.file.name, line),
            }),
        };
        let cells = self.positions.iter().map(cell).collect::<Result<_, _>>()?;
        Ok(Some(Row { place, cells }))
    }
}

impl Iterator for CsvRows {
    type Item = Result<Row, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.advance().transpose()
    }
}

fn place(file: &str, line: u64) -> Place {
    Place {
        file: file.to_owned(),
        number: line,
        unit: Unit::Line,
    }
}

fn failed(file: &TableFile, failure: Failure) -> DataError {
    match failure {
        Failure::Io(source) => file.unreadable(source),
        Failure::Csv { line, fault } => DataError::Csv {
            place: place(&file.name, line),
            fault,
        },
    }
}
