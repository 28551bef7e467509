//! Walks through a JSON document without reading it into memory: one value at a time.

use std::io::{self, BufRead as _, Read};

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Deserializer;

use crate::error::{DataError, Place};
use crate::reader::{ROW_LIMIT, TableFile, Text};

/// A position in a JSON document.
///
/// Commas, colons and brackets outside the values are checked here; the values are checked by the parser that reads them.
pub(super) struct Scanner {
    file: TableFile,
    input: Input,
    /// Whether the next element or member is the first of its array or object.
    is_first: bool,
}

/// The text. Hands one byte after another to the parser, which so takes nothing that follows a value.
struct Input {
    text: Text,
    /// The line of the next byte, from 1.
    line: u64,
    /// The byte that was read last.
    last: u8,
    /// Whether that byte is to be read again, because it follows the number that the parser read.
    is_unread: bool,
    /// How many further bytes the current value may have.
    room: usize,
}

impl Input {
    fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.is_unread {
            return Ok(Some(self.last));
        }
        Ok(self.text.fill_buf()?.first().copied())
    }

    fn advance(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.last = byte;
            self.line += u64::from(byte == b'\n');
            if !std::mem::take(&mut self.is_unread) {
                self.text.consume(1);
            }
        }
        Ok(byte)
    }

    fn unread(&mut self) {
        self.is_unread = true;
        self.line -= u64::from(self.last == b'\n');
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(place) = buffer.first_mut() else {
            return Ok(0);
        };
        let room = self.room.checked_sub(1);
        self.room = room.ok_or(io::ErrorKind::FileTooLarge)?;
        match self.advance()? {
            Some(byte) => *place = byte,
            None => return Ok(0),
        }
        Ok(1)
    }
}

impl Scanner {
    pub(super) fn open(file: &TableFile, compressed: bool) -> Result<Self, DataError> {
        Ok(Self {
            file: file.clone(),
            input: Input {
                text: file.text(compressed)?,
                line: 1,
                last: 0,
                is_unread: false,
                room: 0,
            },
            is_first: true,
        })
    }

    pub(super) fn place(&self) -> Place {
        Place::line(&self.file.name, self.input.line)
    }

    pub(super) fn fails(&self, what: impl std::fmt::Display) -> DataError {
        self.place().is_no_json(what)
    }

    /// The next byte that is no white space, which stays unread; `None` at the end of the file.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, DataError> {
        let mut next = || -> io::Result<_> {
            while let Some(byte) = self.input.peek()? {
                if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                    return Ok(Some(byte));
                }
                self.input.advance()?;
            }
            Ok(None)
        };
        next().map_err(|source| self.file.unreadable(source))
    }

    /// Takes this byte if it is the next one that is no white space.
    fn takes(&mut self, wanted: u8) -> Result<bool, DataError> {
        let is_there = self.peek()? == Some(wanted);
        if is_there {
            let taken = self.input.advance();
            taken.map_err(|source| self.file.unreadable(source))?;
        }
        Ok(is_there)
    }

    fn expect(&mut self, wanted: u8) -> Result<(), DataError> {
        if self.takes(wanted)? {
            return Ok(());
        }
        self.unexpected(&format!("`{}`", char::from(wanted)))
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Result<T, DataError> {
        Err(match self.peek()? {
            None => self.fails(format!("the file ends, but {wanted} is expected")),
            Some(byte) if byte.is_ascii_graphic() => {
                let found = char::from(byte);
                self.fails(format!("`{found}` is in the place of {wanted}"))
            }
            Some(_) => self.fails(format!("other text is in the place of {wanted}")),
        })
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
        if self.peek()? != Some(b'"') {
            return self.unexpected("a key in quotes");
        }
        let (_, key) = self.value()?;
        self.expect(b':')?;
        Ok(Some(key))
    }

    fn next_of(&mut self, end: u8) -> Result<bool, DataError> {
        if self.takes(end)? {
            return Ok(false);
        }
        let is_first = std::mem::replace(&mut self.is_first, false);
        let end = char::from(end);
        if self.peek()?.is_none() && is_first {
            return self.unexpected(&format!("`{end}`"));
        }
        if !is_first && !self.takes(b',')? {
            return self.unexpected(&format!("`,` or `{end}`"));
        }
        if !is_first && self.peek()?.map(char::from) == Some(end) {
            return Err(self.fails(format!("no comma may stand before `{end}`")));
        }
        Ok(true)
    }

    /// Goes on behind an array, in the object around it.
    pub(super) fn leave(&mut self) {
        self.is_first = false;
    }

    /// Reads a value, with the place where it starts.
    pub(super) fn value<T: DeserializeOwned>(&mut self) -> Result<(Place, T), DataError> {
        let first = self.peek()?;
        let place = self.place();
        self.input.room = ROW_LIMIT;
        let mut parser = Deserializer::from_reader(&mut self.input);
        let read = T::deserialize(&mut parser);
        let is_number = |byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        if first.is_some_and(is_number) && !is_number(self.input.last) {
            self.input.unread();
        }
        let value = read.map_err(|error| self.not_read(&place, error))?;
        Ok((place, value))
    }

    /// The error of a value that starts at `start`.
    fn not_read(&self, start: &Place, error: serde_json::Error) -> DataError {
        if error.is_io() && self.input.room == 0 {
            return start.is_too_large();
        }
        if error.is_io() {
            return self.file.unreadable(error.into());
        }
        if error.is_eof() {
            return start.is_cut_off();
        }
        let further = error.line().saturating_sub(1) as u64;
        let message = error.to_string();
        let what = message.rsplit_once(" at line ");
        let place = Place::line(&self.file.name, start.number + further);
        match what.map_or(message.as_str(), |(what, _)| what) {
            "invalid unicode code point" => place.not_utf8(),
            what => place.is_no_json(what),
        }
    }

    pub(super) fn skip_value(&mut self) -> Result<(), DataError> {
        self.value::<IgnoredAny>().map(drop)
    }

    /// Checks that nothing but white space follows.
    pub(super) fn expect_end(&mut self) -> Result<(), DataError> {
        match self.peek()? {
            None => Ok(()),
            Some(_) => Err(self.fails("text follows the end of the document")),
        }
    }
}
