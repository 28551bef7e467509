//! Rows of JSON Lines: one object on each line, one line in memory at a time.

use std::io::{BufRead, Read};

use super::json_objects::{Object, check_columns, object_rows};
use super::{ROW_LIMIT, Rows, TableFile, Text};
use crate::error::{DataError, Place};
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
        Place::line(&self.file.name, self.number)
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
            return Err(self.place().is_too_large());
        }
        Ok(true)
    }

    fn object(&mut self) -> Result<Object, DataError> {
        let place = self.place();
        // To the parser, the end of the line is a control character in a string that does not end.
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Ok(text) = std::str::from_utf8(line) else {
            return Err(place.not_utf8());
        };
        // Concatenated files have byte order marks in the middle, too.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let parsed = serde_json::from_str(text).or_else(|error| {
            if text.contains("NaN") {
                serde_json::from_str(&without_nan(text))
            } else {
                Err(error)
            }
        });
        match parsed {
            Ok(object) => Ok((place, object)),
            Err(error) => {
                let at_end = self.text.fill_buf().is_ok_and(<[u8]>::is_empty);
                let first = text.trim_start().bytes().next();
                Err(match first {
                    Some(b'{') if error.is_eof() && at_end => place.is_cut_off(),
                    _ => place.is_no_json(fault(first, &error)),
                })
            }
        }
    }
}

/// The line with `null` in place of each `NaN`, as Python and pandas write a missing value.
fn without_nan(line: &str) -> String {
    let mut is_string = false;
    let parts = line.split('"').map(|part| {
        let mended = if is_string {
            part.to_owned()
        } else {
            part.replace("NaN", "null")
        };
        let backslashes = part.len() - part.trim_end_matches('\\').len();
        // The quote behind the part begins or ends a string, unless it is escaped in one.
        is_string = !is_string || backslashes % 2 == 1;
        mended
    });
    parts.collect::<Vec<_>>().join("\"")
}

/// The meaning of the parser's error for a line that starts with this byte.
fn fault(first: Option<u8>, error: &serde_json::Error) -> String {
    match first {
        Some(b'[') => {
            "an array starts here, but JSON Lines needs one object on each line; `jq -c '.[]'` converts it".to_owned()
        }
        Some(b'{') if error.is_eof() => {
            "the object does not end on this line, but JSON Lines needs one object on each line; `jq -c .` converts it"
                .to_owned()
        }
        // The parser counts lines within its input, which is a single line.
        _ => error.to_string().replace(" at line 1 column", " at byte"),
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
