//! Walks through a JSON document without reading it into memory: one value at a time.

use std::io::BufRead;

use serde_json::Value;

use crate::error::{DataError, JsonFault, Place, Unit};
use crate::reader::{ROW_LIMIT, TableFile, Text};

/// A position in a JSON document.
///
/// Commas, colons and brackets outside the values are checked here; the values are checked by the parser that reads them.
pub(super) struct Scanner {
    file: TableFile,
    text: Text,
    /// The line of the next byte, from 1.
    line: u64,
    /// Whether the next element or member is the first of its array or object.
    is_first: bool,
    value: Vec<u8>,
}

impl Scanner {
    pub(super) fn open(file: &TableFile, compressed: bool) -> Result<Self, DataError> {
        Ok(Self {
            file: file.clone(),
            text: file.text(compressed)?,
            line: 1,
            is_first: true,
            value: Vec::new(),
        })
    }

    pub(super) fn place(&self) -> Place {
        Place {
            file: self.file.name.clone(),
            number: self.line,
            unit: Unit::Line,
        }
    }

    pub(super) fn fails(&self, what: impl Into<String>) -> DataError {
        DataError::Json {
            place: self.place(),
            fault: JsonFault::Document { what: what.into() },
        }
    }

    pub(super) fn not_an_object(place: Place, value: &Value) -> DataError {
        let found = match value {
            Value::Array(_) => "an array",
            Value::String(_) => "a string",
            Value::Bool(_) => "a truth value",
            Value::Null => "null",
            Value::Number(_) => "a number",
            Value::Object(_) => "an object",
        };
        DataError::Json {
            place,
            fault: JsonFault::NotAnObject { found },
        }
    }

    /// The next byte, which stays unread; `None` at the end of the file.
    fn peek_byte(&mut self) -> Result<Option<u8>, DataError> {
        let buffer = self.text.fill_buf();
        let buffer = buffer.map_err(|source| self.file.unreadable(source))?;
        Ok(buffer.first().copied())
    }

    fn take_byte(&mut self) -> Result<Option<u8>, DataError> {
        let byte = self.peek_byte()?;
        if byte.is_some() {
            self.text.consume(1);
        }
        self.line += u64::from(byte == Some(b'\n'));
        Ok(byte)
    }

    /// The next byte that is no white space, which stays unread.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, DataError> {
        while let Some(byte) = self.peek_byte()? {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Ok(Some(byte));
            }
            self.take_byte()?;
        }
        Ok(None)
    }

    fn expect(&mut self, wanted: u8) -> Result<(), DataError> {
        let found = self.peek()?;
        if found == Some(wanted) {
            self.take_byte()?;
            return Ok(());
        }
        Err(self.unexpected(found, &format!("`{}`", char::from(wanted))))
    }

    fn unexpected(&self, found: Option<u8>, wanted: &str) -> DataError {
        match found {
            None => self.fails(format!("the file ends, but {wanted} is expected")),
            Some(byte) if byte.is_ascii_graphic() => self.fails(format!(
                "`{}` is in the place of {wanted}",
                char::from(byte)
            )),
            Some(_) => self.fails(format!("other text is in the place of {wanted}")),
        }
    }

    pub(super) fn enter_array(&mut self) -> Result<(), DataError> {
        self.is_first = true;
        self.expect(b'[')
    }

    pub(super) fn enter_object(&mut self) -> Result<(), DataError> {
        self.is_first = true;
        self.expect(b'{')
    }

    /// Moves to the next element of an array; `false` at its end.
    pub(super) fn next_element(&mut self) -> Result<bool, DataError> {
        self.next_of(b']')
    }

    /// Moves to the value of the next member of an object and returns the key; `None` at its end.
    pub(super) fn next_key(&mut self) -> Result<Option<String>, DataError> {
        if !self.next_of(b'}')? {
            return Ok(None);
        }
        let found = self.peek()?;
        if found != Some(b'"') {
            return Err(self.unexpected(found, "a key in quotes"));
        }
        match self.value()? {
            (_, Value::String(key)) => {
                self.expect(b':')?;
                Ok(Some(key))
            }
            _ => Err(self.fails("a key must be a text in double quotes")),
        }
    }

    fn next_of(&mut self, end: u8) -> Result<bool, DataError> {
        let found = self.peek()?;
        if found == Some(end) {
            self.take_byte()?;
            return Ok(false);
        }
        if self.is_first {
            self.is_first = false;
            return match found {
                Some(_) => Ok(true),
                None => Err(self.unexpected(None, &format!("`{}`", char::from(end)))),
            };
        }
        if found != Some(b',') {
            let wanted = format!("`,` or `{}`", char::from(end));
            return Err(self.unexpected(found, &wanted));
        }
        self.take_byte()?;
        match self.peek()? {
            Some(byte) if byte == end => {
                Err(self.fails(format!("no comma may stand before `{}`", char::from(end))))
            }
            _ => Ok(true),
        }
    }

    /// Goes on behind an array, in the object around it.
    pub(super) fn leave(&mut self) {
        self.is_first = false;
    }

    /// Reads a value, with the place where it starts.
    pub(super) fn value(&mut self) -> Result<(Place, Value), DataError> {
        self.peek()?;
        let place = self.place();
        self.read_value()?;
        let text = std::str::from_utf8(&self.value).map_err(|error| {
            let before = &self.value[..error.valid_up_to()];
            self.at(&place, lines(before)).not_utf8()
        })?;
        let value = serde_json::from_str(text).map_err(|error| {
            let what = error.to_string();
            let what = what
                .rsplit_once(" at line ")
                .map_or(what.as_str(), |(what, _)| what);
            DataError::Json {
                place: self.at(&place, error.line().saturating_sub(1) as u64),
                fault: JsonFault::Document {
                    what: what.to_owned(),
                },
            }
        })?;
        Ok((place, value))
    }

    fn at(&self, start: &Place, further: u64) -> Place {
        Place {
            number: start.number + further,
            ..self.place()
        }
    }

    pub(super) fn skip_value(&mut self) -> Result<(), DataError> {
        self.peek()?;
        self.read_value()
    }

    /// Reads the bytes of a value, up to the comma or bracket that follows it.
    fn read_value(&mut self) -> Result<(), DataError> {
        self.value.clear();
        let start = self.place();
        let mut depth = 0_usize;
        let mut in_text = false;
        while let Some(byte) = self.peek_byte()? {
            if in_text {
                match byte {
                    b'\\' => self.push_byte(&start)?,
                    b'"' => in_text = false,
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => in_text = true,
                    b'[' | b'{' => depth += 1,
                    b']' | b'}' if depth > 0 => depth -= 1,
                    b',' | b']' | b'}' | b':' if depth == 0 => return Ok(()),
                    _ => {}
                }
            }
            self.push_byte(&start)?;
            let is_closed = matches!(byte, b'"' | b']' | b'}') && !in_text && depth == 0;
            if is_closed {
                return Ok(());
            }
        }
        if in_text || depth > 0 {
            return Err(DataError::Json {
                place: start,
                fault: JsonFault::CutOff,
            });
        }
        Ok(())
    }

    fn push_byte(&mut self, start: &Place) -> Result<(), DataError> {
        if self.value.len() == ROW_LIMIT {
            return Err(DataError::Json {
                place: start.clone(),
                fault: JsonFault::TooLarge,
            });
        }
        let byte = self.take_byte()?;
        self.value.extend(byte);
        Ok(())
    }

    /// Checks that nothing but white space follows.
    pub(super) fn expect_end(&mut self) -> Result<(), DataError> {
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.fails("text follows the end of the document")),
        }
    }
}

fn lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
