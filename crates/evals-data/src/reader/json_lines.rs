//! JSON Lines: one object on each line, one line in memory at a time.

use std::io::{BufRead, BufReader, Read};

use serde_json::{Map, Value};

use super::{Row, Rows, TableFile};
use crate::error::{DataError, Place, Unit};
use crate::manifest::Column;

/// How many objects are looked at to know a file's columns: JSON may leave out what is null, so that one is not enough.
const SAMPLE: usize = 100;

/// A column has to be in one of the first hundred objects; where an object lacks it, it is null.
pub(super) fn rows(
    file: &TableFile,
    columns: &[Column],
    compressed: bool,
) -> Result<Rows, DataError> {
    check_columns(file, columns, Objects::open(file, compressed)?)?;
    let columns = columns.to_vec();
    let rows = Objects::open(file, compressed)?.map(move |object| {
        let (place, object) = object?;
        let cells = columns
            .iter()
            .map(|column| lookup(&object, column).cloned().unwrap_or_default())
            .collect();
        Ok(Row { place, cells })
    });
    Ok(Box::new(rows))
}

fn check_columns(file: &TableFile, columns: &[Column], objects: Objects) -> Result<(), DataError> {
    let mut unseen: Vec<&Column> = columns.iter().collect();
    let mut names: Vec<String> = Vec::new();
    let mut is_empty = true;
    for object in objects.take(SAMPLE) {
        let (_, object) = object?;
        is_empty = false;
        unseen.retain(|column| lookup(&object, column).is_none());
        if unseen.is_empty() {
            return Ok(());
        }
        for name in object.keys() {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
    }
    match unseen.first() {
        Some(column) if !is_empty => Err(file.missing(column, names)),
        _ => Ok(()),
    }
}

fn lookup<'o>(object: &'o Map<String, Value>, column: &Column) -> Option<&'o Value> {
    if let Some(value) = object.get(&column.path()) {
        return Some(value);
    }
    let (first, rest) = column.segments().split_first()?;
    rest.iter()
        .try_fold(object.get(first)?, |value, field| value.get(field))
}

/// The objects of a file with their lines; blank lines are passed over.
struct Objects {
    file: String,
    reader: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
    number: u64,
}

impl Objects {
    fn open(file: &TableFile, compressed: bool) -> Result<Self, DataError> {
        let reader = file.reader(compressed)?;
        Ok(Self {
            file: file.name.clone(),
            reader,
            line: Vec::new(),
            number: 0,
        })
    }

    fn object(&self) -> Result<(Place, Map<String, Value>), DataError> {
        let place = Place {
            file: self.file.clone(),
            number: self.number,
            unit: Unit::Line,
        };
        let Ok(text) = std::str::from_utf8(&self.line) else {
            return Err(DataError::NotUtf8 { place });
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match serde_json::from_str(text) {
            Ok(object) => Ok((place, object)),
            Err(source) => Err(DataError::Json { place, source }),
        }
    }
}

impl Iterator for Objects {
    type Item = Result<(Place, Map<String, Value>), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.line.clear();
            match self.reader.read_until(b'\n', &mut self.line) {
                Ok(0) => return None,
                Ok(_) => self.number += 1,
                Err(source) => {
                    return Some(Err(DataError::Unreadable {
                        file: self.file.clone(),
                        source,
                    }));
                }
            }
            if !self.line.trim_ascii().is_empty() {
                return Some(self.object());
            }
        }
    }
}
