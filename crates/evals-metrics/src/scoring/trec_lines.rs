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
            let lines = Lines::new(&self.text[stretch.bytes.clone()], stretch.line);
            for (number, line) in lines {
                rows.push(match self.file {
                    File::Rankings => ranked(line, number)?,
                    File::Judgements => judged(line, number)?,
                });
            }
        }
        Ok(())
    }

    /// The last field of the last line.
    pub(super) fn tag(&self) -> Option<&'t str> {
        let mut lines = self.text.rsplit('\n');
        let line = lines.find(|line| has_content(line))?;
        fields::<6>(line).map(|([.., tag], _)| tag)
    }
}

fn ranked(line: &str, number: usize) -> Result<Row<'_>, ParseError> {
    let wrong = || wrong_fields(line, number, RUN_FIELDS);
    let ([_query, _q0, id, rank, score, _tag], has_more) = fields(line).ok_or_else(wrong)?;
    // trec_eval ignores what follows the tag. A blank inside of an id shows by what stands in the place of the rank.
    if has_more && rank.parse::<i64>().is_err() {
        return Err(wrong());
    }
    let value = score.parse().ok().filter(|score: &f64| score.is_finite());
    let value = value.ok_or_else(|| ParseError::Score {
        line: number,
        value: score.to_owned(),
    })?;
    Ok(Row {
        id,
        value,
        line: number,
    })
}

fn judged(line: &str, number: usize) -> Result<Row<'_>, ParseError> {
    let wrong = || wrong_fields(line, number, QRELS_FIELDS);
    let ([_query, _iteration, id, grade], has_more) = fields(line).ok_or_else(wrong)?;
    if has_more {
        return Err(wrong());
    }
    let value: i32 = grade.parse().map_err(|_| ParseError::Grade {
        line: number,
        value: grade.to_owned(),
    })?;
    Ok(Row {
        id,
        value: value.into(),
        line: number,
    })
}

fn wrong_fields(line: &str, number: usize, expected: &'static str) -> ParseError {
    ParseError::Fields {
        line: number,
        expected,
        found: line.split_ascii_whitespace().count(),
    }
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

/// The lines that have content, with their numbers.
struct Lines<'t> {
    rest: &'t str,
    number: usize,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str, first: usize) -> Self {
        Self {
            rest: text,
            number: first - 1,
        }
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let end = memchr(b'\n', self.rest.as_bytes()).map_or(self.rest.len(), |at| at + 1);
            let (line, rest) = self.rest.split_at(end);
            self.rest = rest;
            self.number += 1;
            if has_content(line) {
                return Some((self.number, line));
            }
        }
        None
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

/// The first `N` fields of a line, and whether more follow; `None` if there are fewer.
fn fields<const N: usize>(line: &str) -> Option<([&str; N], bool)> {
    let bytes = line.as_bytes();
    let mut all = [""; N];
    let mut at = 0;
    let skip = |mut at: usize| {
        while at < bytes.len() && is_blank(bytes[at]) {
            at += 1;
        }
        at
    };
    for field in &mut all {
        let start = skip(at);
        at = start;
        while at < bytes.len() && !is_blank(bytes[at]) {
            at += 1;
        }
        if start == at {
            return None;
        }
        *field = &line[start..at];
    }
    Some((all, skip(at) < bytes.len()))
}
