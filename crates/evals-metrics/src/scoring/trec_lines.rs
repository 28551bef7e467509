//! The lines of a TREC file, grouped by query.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::thread::{self, ScopedJoinHandle};

use memchr::memchr;

use super::error::File;
use super::source::Row;
use crate::trec::ParseError;

const QRELS_FIELDS: &str = "4 fields (query, iteration, document, grade)";
const RUN_FIELDS: &str = "6 fields (query, Q0, document, rank, score, tag)";

/// The least that a thread indexes: below, starting it takes longer than it saves.
const LEAST_CHUNK: usize = 1 << 20;

/// A file whose lines are grouped by query, and not read yet.
#[derive(Debug)]
pub(super) struct TrecLines<'t> {
    text: &'t str,
    file: File,
    /// In byte order of the ids.
    queries: Vec<Query<'t>>,
    /// The stretches of each query one after another, in the order of the file.
    stretches: Vec<Stretch<'t>>,
}

#[derive(Debug)]
struct Query<'t> {
    id: &'t str,
    stretches: Range<usize>,
}

/// Adjacent lines of one query.
#[derive(Debug, Clone)]
struct Stretch<'t> {
    query: &'t str,
    bytes: Range<usize>,
    /// The first line, from 1.
    line: usize,
}

impl<'t> TrecLines<'t> {
    /// Finds the lines of each query.
    pub(super) fn index(text: &'t str, file: File) -> Self {
        let mut stretches = all_stretches(text);
        // A stable sort: the stretches of a query keep the order of the file.
        stretches.sort_by(|left, right| left.query.cmp(right.query));
        let mut queries: Vec<Query<'t>> = Vec::new();
        for (index, stretch) in stretches.iter().enumerate() {
            match queries.last_mut() {
                Some(query) if query.id == stretch.query => query.stretches.end = index + 1,
                _ => queries.push(Query {
                    id: stretch.query,
                    stretches: index..index + 1,
                }),
            }
        }
        Self {
            text,
            file,
            queries,
            stretches,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.queries.len()
    }

    pub(super) fn query(&self, index: usize) -> &'t str {
        self.queries[index].id
    }

    /// Appends the rows of a query.
    pub(super) fn rows(&self, index: usize, rows: &mut Vec<Row<'t>>) -> Result<(), ParseError> {
        for stretch in &self.stretches[self.queries[index].stretches.clone()] {
            let mut lines = Lines::new(&self.text[stretch.bytes.clone()], stretch.line);
            match self.file {
                File::Rankings => lines.append(rows, RUN_FIELDS, ranked)?,
                File::Judgements => lines.append(rows, QRELS_FIELDS, judged)?,
            }
        }
        Ok(())
    }

    /// The last field of the last line.
    pub(super) fn tag(&self) -> Option<&'t str> {
        let mut lines = self.text.rsplit('\n');
        let line = lines.find(|line| has_content(line))?;
        Lines::new(line, 1)
            .next_fields::<6>()
            .map(|([.., tag], _)| tag)
    }
}

/// The id and score of a ranked document; `None` if a blank inside of an id shifted the fields.
fn ranked(
    [_query, _q0, id, rank, score, _tag]: [&str; 6],
    has_more: bool,
    line: usize,
) -> Result<Option<(&str, f64)>, ParseError> {
    // trec_eval ignores what follows the tag. If a blank split an id, the field of the rank is no number.
    if has_more && rank.parse::<i64>().is_err() {
        return Ok(None);
    }
    let value = short_decimal(score)
        .or_else(|| score.parse().ok())
        .filter(|score: &f64| score.is_finite());
    match value {
        Some(value) => Ok(Some((id, value))),
        None => Err(ParseError::Score {
            line,
            value: score.to_owned(),
        }),
    }
}

/// The id and grade of a judged document; `None` if there are more fields than four.
fn judged(
    [_query, _iteration, id, grade]: [&str; 4],
    has_more: bool,
    line: usize,
) -> Result<Option<(&str, f64)>, ParseError> {
    if has_more {
        return Ok(None);
    }
    match grade.parse::<i32>() {
        Ok(value) => Ok(Some((id, value.into()))),
        Err(_) => Err(ParseError::Grade {
            line,
            value: grade.to_owned(),
        }),
    }
}

/// A number of at most 15 digits without an exponent, which most scores are. The quotient of two whole numbers that a double holds
/// exactly is rounded once, so it is the nearest double.
///
/// Source: Clinger, "How to Read Floating Point Numbers Accurately" (1990).
fn short_decimal(text: &str) -> Option<f64> {
    const TENS: [f64; 16] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ];
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.len() > 16 {
        return None;
    }
    let (mut number, mut count, mut decimals) = (0_u64, 0, None);
    for byte in digits.bytes() {
        match byte {
            b'0'..=b'9' => {
                number = number * 10 + u64::from(byte - b'0');
                count += 1;
                decimals = decimals.map(|decimals| decimals + 1);
            }
            b'.' if decimals.is_none() => decimals = Some(0_usize),
            _ => return None,
        }
    }
    if !(1..=15).contains(&count) {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "15 digits are below 2^53")]
    let value = number as f64 / TENS[decimals.unwrap_or(0)];
    Some(if digits.len() < text.len() {
        -value
    } else {
        value
    })
}

/// The stretches of the whole file, found by several threads if it is large.
fn all_stretches(text: &str) -> Vec<Stretch<'_>> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let chunks = chunks(text, threads.min(text.len() / LEAST_CHUNK).max(1));
    let found: Vec<_> = thread::scope(|scope| {
        let started: Vec<_> = chunks
            .into_iter()
            .map(|chunk| scope.spawn(|| stretches_of(text, chunk)))
            .collect();
        let finished = started.into_iter().map(ScopedJoinHandle::join);
        finished
            .map(|it| it.expect("finding lines does not panic"))
            .collect()
    });
    let mut lines_above = 0;
    let mut all = Vec::with_capacity(found.iter().map(|(stretches, _)| stretches.len()).sum());
    for (stretches, lines) in found {
        all.extend(stretches.into_iter().map(|mut stretch| {
            stretch.line += lines_above;
            stretch
        }));
        lines_above += lines;
    }
    all
}

/// Parts of about the same size that end with a line.
fn chunks(text: &str, count: usize) -> Vec<Range<usize>> {
    let size = text.len().div_ceil(count);
    let mut chunks = Vec::with_capacity(count);
    let mut start = 0;
    while start < text.len() {
        let target = text.len().min(start + size.max(1)) - 1;
        let rest = &text.as_bytes()[target..];
        let end = memchr(b'\n', rest).map_or(text.len(), |at| target + at + 1);
        chunks.push(start..end);
        start = end;
    }
    chunks
}

/// The stretches of a part of the file, with lines counted from 1, and the number of its lines.
fn stretches_of(text: &str, part: Range<usize>) -> (Vec<Stretch<'_>>, usize) {
    let bytes = text.as_bytes();
    let mut stretches: Vec<Stretch<'_>> = Vec::new();
    let (mut start, mut line) = (part.start, 0);
    while start < part.end {
        line += 1;
        let rest = &bytes[start..part.end];
        let end = memchr(b'\n', rest).map_or(part.end, |at| start + at + 1);
        let content = &text[start..end];
        let continues = stretches.last().is_some_and(|last| {
            let after = content.strip_prefix(last.query);
            after.is_some_and(|after| after.bytes().next().is_none_or(is_blank))
        });
        if continues || !has_content(content) {
            if let Some(last) = stretches.last_mut() {
                last.bytes.end = end;
            }
        } else {
            let query = first_field(content);
            match stretches.last_mut() {
                Some(last) if last.query == query => last.bytes.end = end,
                _ => stretches.push(Stretch {
                    query,
                    bytes: start..end,
                    line,
                }),
            }
        }
        start = end;
    }
    (stretches, line)
}

/// Goes through lines once: it finds their ends and their fields at the same time.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    /// The number of the line that was read last.
    number: usize,
    /// Where it began.
    start: usize,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str, first: usize) -> Self {
        Self {
            text,
            at: 0,
            number: first - 1,
            start: 0,
        }
    }

    /// Appends a row for each line that has content.
    fn append<const N: usize>(
        &mut self,
        rows: &mut Vec<Row<'t>>,
        expected: &'static str,
        read: impl Fn([&'t str; N], bool, usize) -> Result<Option<(&'t str, f64)>, ParseError>,
    ) -> Result<(), ParseError> {
        while self.next_line() {
            let fields = self.next_fields::<N>();
            let row = match fields {
                Some((fields, has_more)) => read(fields, has_more, self.number)?,
                None => None,
            };
            let Some((id, value)) = row else {
                return Err(self.wrong_fields(expected));
            };
            rows.push(Row {
                id,
                value,
                line: self.number,
            });
        }
        Ok(())
    }

    /// Goes to the first field of the next line that has content.
    fn next_line(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            self.number += 1;
            self.start = self.at;
            self.skip_blanks();
            match bytes.get(self.at) {
                None => return false,
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.end_line(),
                Some(_) => return true,
            }
        }
        false
    }

    /// The next `N` fields of the line, and whether more follow; `None` if there are fewer. Goes to the end of the line.
    fn next_fields<const N: usize>(&mut self) -> Option<([&'t str; N], bool)> {
        let bytes = self.text.as_bytes();
        let mut fields = [""; N];
        for field in &mut fields {
            self.skip_blanks();
            let start = self.at;
            while bytes.get(self.at).is_some_and(|byte| !is_blank(*byte)) {
                self.at += 1;
            }
            if start == self.at {
                return None;
            }
            *field = &self.text[start..self.at];
        }
        self.skip_blanks();
        let has_more = bytes.get(self.at).is_some_and(|byte| *byte != b'\n');
        if has_more {
            self.end_line();
        } else {
            self.at = bytes.len().min(self.at + 1);
        }
        Some((fields, has_more))
    }

    /// Skips the white space inside of a line.
    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        let is_inside = |byte: &u8| is_blank(*byte) && *byte != b'\n';
        while bytes.get(self.at).is_some_and(is_inside) {
            self.at += 1;
        }
    }

    fn end_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
    }

    fn wrong_fields(&self, expected: &'static str) -> ParseError {
        let rest = &self.text[self.start..];
        let line = rest.split('\n').next().unwrap_or_default();
        ParseError::Fields {
            line: self.number,
            expected,
            found: line.split_ascii_whitespace().count(),
        }
    }
}

/// White space of C, which `trec_eval` splits at.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Whether a line is neither blank nor a comment of `trec_eval` 10.
fn has_content(line: &str) -> bool {
    let first = line.bytes().find(|&byte| !is_blank(byte));
    first.is_some_and(|first| first != b'#')
}

fn first_field(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| c.is_ascii() && is_blank(c as u8));
    let end = line.bytes().position(is_blank).unwrap_or(line.len());
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_decimals_are_those_of_the_standard_parser() {
        for text in [
            "0",
            "-0",
            "12.5",
            "-0.1",
            "0.000001",
            "99999999999999.9",
            "123456789.012345",
            ".5",
            "5.",
            "007",
            "39.712345",
            "0.30000000000000004",
            "1e5",
            "-",
            ".",
            "",
            "1.2.3",
            "1234567890123456",
        ] {
            if let Some(value) = short_decimal(text) {
                assert_eq!(
                    Ok(value.to_bits()),
                    text.parse().map(f64::to_bits),
                    "{text}"
                );
            }
        }
        assert_eq!(short_decimal("12.5"), Some(12.5));
        for text in ["1e5", "-", ".", "", "1.2.3", "1234567890123456", "+1"] {
            assert_eq!(short_decimal(text), None, "{text}");
        }
    }
}
