//! Rows of JSON Lines: one object on each line, one line in memory at a time.

use std::io::{BufRead, Read};

use super::json_objects::{Object, check_columns, object_rows};
use super::{ROW_LIMIT, Rows, TableFile, Text};
use crate::error::{DataError, JsonFault, Place, Unit};
use crate::manifest::Column;

/// The file is read twice: to check its columns, and for its rows.
pub(super) fn rows(
    file: &TableFile,
    columns: &[Column],
    compressed: bool,
) -> Result<Rows, DataError> {
    check_columns(file, columns, Objects::open(file, compressed)?)?;
    Ok(object_rows(Objects::open(file, compressed)?, columns))
}

/// The objects of a file with their lines; blank lines are skipped.
struct Objects {
    file: TableFile,
    text: Text,
    line: Vec<u8>,
    number: u64,
    limit: usize,
}

impl Objects {
    fn open(file: &TableFile, compressed: bool) -> Result<Self, DataError> {
        Ok(Self {
            file: file.clone(),
            text: file.text(compressed)?,
            line: Vec::new(),
            number: 0,
            limit: ROW_LIMIT,
        })
    }

    fn place(&self) -> Place {
        Place {
            file: self.file.name.clone(),
            number: self.number,
            unit: Unit::Line,
        }
    }

    fn fails(&self, fault: JsonFault) -> DataError {
        DataError::Json {
            place: self.place(),
            fault,
        }
    }

    /// Reads the next line; `false` at the end of the file.
    fn advance(&mut self) -> Result<bool, DataError> {
        self.line.clear();
        let mut bounded = self.text.by_ref().take(self.limit as u64 + 1);
        let read = bounded.read_until(b'\n', &mut self.line);
        if read.map_err(|source| self.file.unreadable(source))? == 0 {
            return Ok(false);
        }
        self.number += 1;
        if self.line.len() > self.limit {
            return Err(self.fails(JsonFault::TooLong));
        }
        Ok(true)
    }

    fn object(&mut self) -> Result<Object, DataError> {
        let place = self.place();
        let Ok(text) = std::str::from_utf8(&self.line) else {
            return Err(DataError::NotUtf8 { place });
        };
        // Concatenated files have byte order marks in the middle, too.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match serde_json::from_str(text) {
            Ok(object) => Ok((place, object)),
            Err(error) => {
                let fault = fault(text, &error);
                let fault = self.at_end_of_file(fault);
                Err(self.fails(fault))
            }
        }
    }

    /// An object that goes on behind its line has been cut off where nothing follows.
    fn at_end_of_file(&mut self, fault: JsonFault) -> JsonFault {
        if fault == JsonFault::Spread && self.text.fill_buf().is_ok_and(<[u8]>::is_empty) {
            return JsonFault::CutOff;
        }
        fault
    }
}

/// The meaning of the parser's error for a line of this text.
fn fault(text: &str, error: &serde_json::Error) -> JsonFault {
    let trimmed = text.trim_start();
    let bytes = error.column().min(text.len());
    let column = text
        .get(..bytes)
        .map_or(bytes, |before| before.chars().count())
        .max(1);
    match trimmed.as_bytes().first() {
        Some(b'[') => JsonFault::Array,
        _ if error.is_data() => JsonFault::NotAnObject {
            found: match trimmed.as_bytes().first() {
                Some(b'"') => "a string",
                Some(b't' | b'f') => "a truth value",
                Some(b'n') => "null",
                _ => "a number",
            },
        },
        Some(b'{') if error.is_eof() => JsonFault::Spread,
        _ => {
            let what = error.to_string();
            // The parser counts lines within its input, which is a single line.
            let what = what
                .rsplit_once(" at line ")
                .map_or(what.as_str(), |(what, _)| what);
            if what == "trailing characters" {
                return JsonFault::TextBehind { column };
            }
            JsonFault::Syntax {
                what: what.to_owned(),
                column,
            }
        }
    }
}

impl Iterator for Objects {
    type Item = Result<Object, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.advance() {
                Ok(true) if self.line.trim_ascii().is_empty() => {}
                Ok(true) => return Some(self.object()),
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
