//! The lines of a TREC file, grouped by query.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::thread::{self, ScopedJoinHandle};

use memchr::{memchr, memchr_iter};

use super::line_fields::{Lines, first_field, has_content, is_blank};
use super::rows::{File, FileRow};
use super::short_decimal::short_decimal;
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
    pub(super) fn rows(&self, index: usize, rows: &mut Vec<FileRow<'t>>) -> Result<(), ParseError> {
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
    // trec_eval ignores what follows the tag. If a blank split an id, the field of the rank is not a number.
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
    let mut stretches: Vec<Stretch<'_>> = Vec::new();
    let (mut start, mut line) = (part.start, 0);
    let ends = memchr_iter(b'\n', &text.as_bytes()[part.clone()]).map(|at| part.start + at + 1);
    for end in ends.chain([part.end]) {
        if start == end {
            break;
        }
        line += 1;
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
