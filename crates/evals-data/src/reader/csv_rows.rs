//! CSV with a header line; every value is a string, and an empty one is null.

use std::io::{BufReader, Read};

use csv::{ByteRecord, Reader, ReaderBuilder};
use serde_json::Value;

use super::{Row, Rows, TableFile};
use crate::error::{DataError, Place, Unit};
use crate::manifest::Column;

pub(super) fn rows(
    file: &TableFile,
    columns: &[Column],
    compressed: bool,
) -> Result<Rows, DataError> {
    let mut reader = ReaderBuilder::new().from_reader(file.reader(compressed)?);
    let header = header(file, &mut reader)?;
    let position = |column: &Column| {
        let found = header.iter().position(|name| *name == column.path());
        found.ok_or_else(|| file.missing(column, header.clone()))
    };
    let positions = columns.iter().map(position).collect::<Result<_, _>>()?;
    Ok(Box::new(CsvRows {
        file: file.name.clone(),
        reader,
        positions,
        record: ByteRecord::new(),
    }))
}

type Input = BufReader<Box<dyn Read + Send>>;

fn header(file: &TableFile, reader: &mut Reader<Input>) -> Result<Vec<String>, DataError> {
    let place = Place {
        file: file.name.clone(),
        number: 1,
        unit: Unit::Line,
    };
    let header = match reader.byte_headers() {
        Ok(header) => header,
        Err(source) => return Err(DataError::Csv { place, source }),
    };
    let names = header
        .iter()
        .map(|name| std::str::from_utf8(name).map(str::to_owned));
    names
        .collect::<Result<_, _>>()
        .map_err(|_| DataError::NotUtf8 { place })
}

struct CsvRows {
    file: String,
    reader: Reader<Input>,
    positions: Vec<usize>,
    record: ByteRecord,
}

impl CsvRows {
    fn place(&self, number: u64) -> Place {
        Place {
            file: self.file.clone(),
            number,
            unit: Unit::Line,
        }
    }

    fn row(&self) -> Result<Row, DataError> {
        let place = self.place(self.record.position().map_or(0, csv::Position::line));
        let cell = |&position: &usize| match self.record.get(position) {
            None | Some([]) => Ok(Value::Null),
            Some(bytes) => std::str::from_utf8(bytes).map(Value::from),
        };
        match self.positions.iter().map(cell).collect::<Result<_, _>>() {
            Ok(cells) => Ok(Row { place, cells }),
            Err(_) => Err(DataError::NotUtf8 { place }),
        }
    }
}

impl Iterator for CsvRows {
    type Item = Result<Row, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.reader.read_byte_record(&mut self.record) {
            Ok(true) => Some(self.row()),
            Ok(false) => None,
            Err(source) => {
                let line = source
                    .position()
                    .map_or_else(|| self.reader.position().line(), csv::Position::line);
                Some(Err(DataError::Csv {
                    place: self.place(line),
                    source,
                }))
            }
        }
    }
}
