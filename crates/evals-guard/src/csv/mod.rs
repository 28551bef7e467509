//! Tables of CSV text (RFC 4180) with a header line.
//!
//! Most CSV readers accept a quote that is never closed, which swallows the rest of the file, and text after a closing quote, which joins
//! the field. Both lose rows silently, so this reader refuses them. A quote inside a field that does not start with one is an ordinary
//! character, as in `5" screen`.

mod records;

use std::io::{self, BufRead, Chain, Cursor, Read};

use thiserror::Error;

pub use records::Record;
use records::Records;

/// The byte order mark of UTF-8, which some editors write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a table cannot be read.
#[derive(Debug, Error)]
pub enum CsvError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The text is not a table.
    #[error("line {line}: {fault}")]
    Fault {
        /// The line. For a fault about a quote, the line where it was opened.
        line: u64,
        /// The problem there.
        fault: CsvFault,
    },
}

/// A defect of a row of CSV.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CsvFault {
    /// A quote that is never closed.
    #[error(
        "the quote that opens a field here is never closed; a quote inside a quoted field is written twice (`\"\"`)"
    )]
    UnclosedQuote,
    /// A closing quote that is not at the end of its field.
    #[error(
        "the quote that opens a field here is closed on line {closed}, but more text follows before the field ends; a quote \
         inside a quoted field is written twice (`\"\"`)"
    )]
    TextAfterQuote {
        /// The line of the closing quote.
        closed: u64,
    },
    /// More or fewer fields than the header.
    #[error(
        "{fields} fields where the header has {header}; a field that holds the separator, a quote or a line break needs \
         quotes around it"
    )]
    Ragged {
        /// Fields of the row.
        fields: usize,
        /// Fields of the header.
        header: usize,
    },
    /// Bytes that are not UTF-8 text.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// A row beyond the size limit.
    #[error("the {} starts here is larger than 128 MiB{}", if *in_quotes { "quoted field that" } else { "row that" }, if *in_quotes { "; is its closing quote missing?" } else { "" })]
    TooLong {
        /// Whether a quote is open.
        in_quotes: bool,
    },
}

/// A table whose header has been read.
#[derive(Debug)]
pub struct Table<R> {
    records: Records<R>,
    header: Vec<String>,
    record: Record,
    ended: bool,
}

impl<R: BufRead> Table<R> {
    /// Reads the header of a text [without a byte order mark](without_mark). An empty text has a header without fields.
    ///
    /// # Errors
    ///
    /// Reading fails, or the first line is not CSV.
    pub fn open(input: R, separator: u8) -> Result<Self, CsvError> {
        let mut table = Self {
            records: Records::new(input, separator),
            header: Vec::new(),
            record: Record::default(),
            ended: false,
        };
        table.ended = !table.records.read(&mut table.record)?;
        let header = table.record.texts()?.into_iter().map(str::to_owned);
        table.header = header.collect();
        Ok(table)
    }

    /// The fields of the header.
    pub fn header(&self) -> &[String] {
        &self.header
    }

    /// The next row, which has as many fields as the header; `None` at the end of the text.
    ///
    /// # Errors
    ///
    /// A row with more or fewer fields, after which the next row follows. Other errors end the table.
    pub fn row(&mut self) -> Result<Option<&Record>, CsvError> {
        if self.ended {
            return Ok(None);
        }
        self.ended = true;
        if !self.records.read(&mut self.record)? {
            return Ok(None);
        }
        self.ended = false;
        let (fields, header) = (self.record.len(), self.header.len());
        if fields != header {
            return Err(CsvError::Fault {
                line: self.record.line(),
                fault: CsvFault::Ragged { fields, header },
            });
        }
        Ok(Some(&self.record))
    }
}

/// A text from its beginning, without a byte order mark.
///
/// # Errors
///
/// Reading the first bytes fails.
pub fn without_mark<R: Read>(mut text: R) -> io::Result<Chain<Cursor<Vec<u8>>, R>> {
    let mut beginning = Vec::new();
    let longest = BYTE_ORDER_MARK.len() as u64;
    text.by_ref().take(longest).read_to_end(&mut beginning)?;
    if beginning == BYTE_ORDER_MARK {
        beginning.clear();
    }
    Ok(Cursor::new(beginning).chain(text))
}

/// The separator of a table's columns, which some spreadsheets write as a semicolon or a tab: the one that the first line has most of.
pub fn separator(bytes: &[u8]) -> u8 {
    let line = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let count = |separator: u8| line.split(|byte| *byte == separator).count();
    let most = [b'\t', b';', b','].into_iter().max_by_key(|it| count(*it));
    most.unwrap_or(b',')
}

#[cfg(test)]
mod tests;
