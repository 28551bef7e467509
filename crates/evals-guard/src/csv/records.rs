//! Records of CSV text: fields, and the line on which each record starts.

use std::io::BufRead;

use memchr::{memchr, memchr_iter, memchr3};

use super::{CsvError, CsvFault};

/// The most bytes of one record. Otherwise a file without line ends, or with a quote that is never closed, would be loaded into memory as a
/// whole.
const RECORD_LIMIT: usize = 128 << 20;

/// Reads records. A record ends with LF, CRLF, CR or the file; empty lines are skipped.
#[derive(Debug)]
pub(super) struct Records<R> {
    input: R,
    parser: Parser,
    pub(super) limit: usize,
}

/// Divides bytes into fields and records.
#[derive(Debug)]
struct Parser {
    separator: u8,
    /// The line of the next byte, from 1.
    line: u64,
    /// Whether the last record ended with a CR, so that an LF right after it belongs to the same line end.
    after_return: bool,
}

/// One record, whose memory is reused for the next.
#[derive(Debug, Default)]
pub struct Record {
    /// The line on which it starts, from 1.
    line: u64,
    bytes: Vec<u8>,
    /// The end of each field in `bytes`.
    ends: Vec<usize>,
}

/// The part of a record that the next byte belongs to.
#[derive(Debug, Clone, Copy)]
enum FieldState {
    /// The beginning of a field.
    Begin,
    /// A field without quotes around it.
    Plain,
    /// A quoted field whose quote was opened on that line.
    Quoted { opened: u64 },
    /// After a quote inside a quoted field. The quote closed the field, unless another quote follows.
    Closed { opened: u64 },
}

impl Record {
    /// The line on which it starts, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The text of a field; a missing one is empty.
    ///
    /// # Errors
    ///
    /// The field is not UTF-8.
    pub fn text(&self, index: usize) -> Result<&str, CsvError> {
        std::str::from_utf8(self.field(index)).map_err(|error| {
            let valid = self.start(index) + error.valid_up_to();
            CsvError::Fault {
                line: self.line + count_lines(&self.bytes[..valid]),
                fault: CsvFault::NotUtf8,
            }
        })
    }

    /// The texts of all fields.
    ///
    /// # Errors
    ///
    /// A field is not UTF-8.
    pub fn texts(&self) -> Result<Vec<&str>, CsvError> {
        (0..self.len()).map(|index| self.text(index)).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn field(&self, index: usize) -> &[u8] {
        self.ends
            .get(index)
            .map_or(&[], |&end| &self.bytes[self.start(index)..end])
    }

    /// The memory of the record, which the limit applies to: both long fields and many empty ones count.
    fn memory(&self) -> usize {
        self.bytes.len() + size_of::<usize>() * self.ends.len()
    }

    fn start(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn end_field(&mut self) {
        self.ends.push(self.bytes.len());
    }
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(input: R, separator: u8) -> Self {
        Self {
            input,
            parser: Parser {
                separator,
                line: 1,
                after_return: false,
            },
            limit: RECORD_LIMIT,
        }
    }

    /// Reads the next record; `false` at the end of the file.
    pub(super) fn read(&mut self, record: &mut Record) -> Result<bool, CsvError> {
        record.clear();
        let mut state = FieldState::Begin;
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                return end_of_file(state, record);
            }
            let (used, ended) = self.parser.take(buffer, &mut state, record)?;
            self.input.consume(used);
            if record.memory() > self.limit {
                return Err(too_long(state, record));
            }
            if ended {
                return Ok(true);
            }
        }
    }
}

impl Parser {
    /// Passes the end of an empty line, or the second half of the end of a record.
    fn end_empty_line(&mut self, byte: u8) {
        let is_second_half = byte == b'\n' && self.after_return;
        self.line += u64::from(!is_second_half);
        self.after_return = byte == b'\r';
    }

    /// Begins a field with this byte.
    fn begin(&mut self, byte: u8, record: &mut Record) -> FieldState {
        self.after_return = false;
        if record.ends.is_empty() {
            record.line = self.line;
        }
        if byte == b'"' {
            FieldState::Quoted { opened: self.line }
        } else {
            FieldState::Plain
        }
    }

    /// Adds bytes to a record up to its end. Returns how many bytes were used, and whether the record has ended.
    fn take(
        &mut self,
        buffer: &[u8],
        state: &mut FieldState,
        record: &mut Record,
    ) -> Result<(usize, bool), CsvError> {
        let mut rest = buffer;
        while let Some((&byte, behind)) = rest.split_first() {
            let is_end = byte == b'\n' || byte == b'\r';
            rest = match *state {
                FieldState::Begin if record.ends.is_empty() && is_end => {
                    self.end_empty_line(byte);
                    behind
                }
                FieldState::Begin => {
                    *state = self.begin(byte, record);
                    if byte == b'"' { behind } else { rest }
                }
                FieldState::Quoted { opened } => {
                    let quote = memchr(b'"', rest);
                    let (run, behind) = rest.split_at(quote.unwrap_or(rest.len()));
                    self.line += count_lines(run);
                    record.bytes.extend_from_slice(run);
                    if quote.is_some() {
                        *state = FieldState::Closed { opened };
                    }
                    behind.get(1..).unwrap_or_default()
                }
                FieldState::Closed { opened } if byte == b'"' => {
                    record.bytes.push(byte);
                    *state = FieldState::Quoted { opened };
                    behind
                }
                FieldState::Closed { opened } if !is_end && byte != self.separator => {
                    let fault = CsvFault::TextAfterQuote { closed: self.line };
                    return Err(CsvError::Fault {
                        line: opened,
                        fault,
                    });
                }
                FieldState::Plain | FieldState::Closed { .. } => {
                    let end = memchr3(self.separator, b'\n', b'\r', rest);
                    let (run, behind) = rest.split_at(end.unwrap_or(rest.len()));
                    record.bytes.extend_from_slice(run);
                    let Some((&end, behind)) = behind.split_first() else {
                        break;
                    };
                    record.end_field();
                    *state = FieldState::Begin;
                    if end != self.separator {
                        self.line += 1;
                        self.after_return = end == b'\r';
                        return Ok((buffer.len() - behind.len(), true));
                    }
                    behind
                }
            };
        }
        Ok((buffer.len(), false))
    }
}

fn end_of_file(state: FieldState, record: &mut Record) -> Result<bool, CsvError> {
    match state {
        FieldState::Begin if record.ends.is_empty() => Ok(false),
        FieldState::Quoted { opened } => Err(CsvError::Fault {
            line: opened,
            fault: CsvFault::UnclosedQuote,
        }),
        FieldState::Begin | FieldState::Plain | FieldState::Closed { .. } => {
            record.end_field();
            Ok(true)
        }
    }
}

fn too_long(state: FieldState, record: &Record) -> CsvError {
    let (line, in_quotes) = match state {
        FieldState::Quoted { opened } | FieldState::Closed { opened } => (opened, true),
        FieldState::Begin | FieldState::Plain => (record.line, false),
    };
    CsvError::Fault {
        line,
        fault: CsvFault::TooLong { in_quotes },
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}
