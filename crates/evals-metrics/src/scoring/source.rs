//! Judgements and rankings in any form, by query.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::delimited::{self, Header};
use super::json;
use super::rows::{File, FileRow};
use super::table::Table;
use super::trec_lines::TrecLines;
use crate::measures::MinimumGrade;
use crate::trec::{ParseError, refuse_lone_returns};
use crate::{Ranking, Run};

/// The form of a file of judgements or rankings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// TREC: fields between spaces or tabs, without a header.
    Trec,
    /// JSON: `{"query": {"document": value}}`.
    Json,
    /// CSV or TSV with a header: `query-id,corpus-id,score`.
    Delimited,
}

impl Form {
    /// The form that the beginning of a text shows: JSON begins with `{`, CSV and TSV have a header that names the three columns,
    /// and everything else is TREC.
    pub fn of(text: &str) -> Self {
        let text = without_mark(text);
        if text.trim_start().starts_with('{') {
            Self::Json
        } else if Header::of(text).is_some() {
            Self::Delimited
        } else {
            Self::Trec
        }
    }
}

/// The text without a byte order mark.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The queries of a file, in byte order of their ids.
#[derive(Debug)]
pub(super) enum ScoringRows<'t> {
    /// Lines are read when a worker scores their query.
    Trec(TrecLines<'t>),
    Table(Cow<'t, Table>),
}

impl<'t> ScoringRows<'t> {
    fn read(text: &'t str, form: Form, file: File) -> Result<Self, ParseError> {
        let text = without_mark(text);
        if form != Form::Json {
            refuse_lone_returns(text)?;
        }
        Ok(match form {
            Form::Trec => match delimited::without_header(text) {
                Some(error) => return Err(error),
                None => Self::Trec(TrecLines::index(text, file)),
            },
            Form::Json => Self::Table(Cow::Owned(json::read(text, file)?)),
            Form::Delimited => Self::Table(Cow::Owned(delimited::read(text, file)?)),
        })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Trec(lines) => lines.len(),
            Self::Table(table) => table.len(),
        }
    }

    pub(super) fn query(&self, index: usize) -> &str {
        match self {
            Self::Trec(lines) => lines.query(index),
            Self::Table(table) => table.query(index),
        }
    }

    fn queries(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.query(index))
    }

    /// The documents of a query, which are checked.
    fn documents(&self, index: usize) -> Result<Vec<(&str, f64)>, ParseError> {
        let mut rows = Vec::new();
        self.rows(index, &mut rows)?;
        let mut ids = HashSet::with_capacity(rows.len());
        if rows.iter().all(|row| ids.insert(row.id)) {
            Ok(rows.into_iter().map(|row| (row.id, row.value)).collect())
        } else {
            Err(duplicate(self.query(index), &rows))
        }
    }

    /// Replaces `rows` with those of a query, in the order of the file.
    pub(super) fn rows<'s>(
        &'s self,
        index: usize,
        rows: &mut Vec<FileRow<'s>>,
    ) -> Result<(), ParseError> {
        rows.clear();
        match self {
            Self::Trec(lines) => lines.rows(index, rows),
            Self::Table(table) => {
                rows.extend(table.rows(index));
                Ok(())
            }
        }
    }
}

/// The judgements of a collection, read from a text that it borrows from.
#[derive(Debug)]
pub struct Judged<'t>(pub(super) ScoringRows<'t>);

impl<'t> Judged<'t> {
    /// Reads judgements in the form that the text shows. Lines of a TREC file are checked only when they are scored.
    ///
    /// # Errors
    ///
    /// JSON, CSV or TSV is malformed, or a line ends with a carriage return alone.
    pub fn read(text: &'t str) -> Result<Self, ParseError> {
        ScoringRows::read(text, Form::of(text), File::Judgements).map(Self)
    }

    /// Judgements in memory.
    pub fn of(table: &'t Table) -> Self {
        Self(ScoringRows::Table(Cow::Borrowed(table)))
    }

    /// The ids of all queries, in byte order.
    pub fn queries(&self) -> impl Iterator<Item = &str> {
        self.0.queries()
    }

    /// The documents of the query at this position with their grades, in the order of the file.
    ///
    /// # Errors
    ///
    /// A line is malformed, or a document is listed twice.
    pub fn documents(&self, query: usize) -> Result<Vec<(&str, f64)>, ParseError> {
        self.0.documents(query)
    }

    /// The documents of each query whose grade is at least `from`.
    ///
    /// # Errors
    ///
    /// A line is malformed.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "grades are whole numbers of 32 bits"
    )]
    pub fn relevant(
        &self,
        from: MinimumGrade,
    ) -> Result<BTreeMap<String, Vec<String>>, ParseError> {
        let mut rows = Vec::new();
        let mut relevant = BTreeMap::new();
        for index in 0..self.0.len() {
            self.0.rows(index, &mut rows)?;
            let of_query = rows
                .iter()
                .filter(|row| from.admits(Some(row.value as i32)));
            let of_query = of_query.map(|row| row.id.to_owned()).collect();
            relevant.insert(self.0.query(index).to_owned(), of_query);
        }
        Ok(relevant)
    }
}

/// The rankings of a system, read from a text that it borrows from.
#[derive(Debug)]
pub struct Ranked<'t>(pub(super) ScoringRows<'t>);

impl<'t> Ranked<'t> {
    /// Reads rankings in the form that the text shows. Lines of a TREC file are checked only when they are scored.
    ///
    /// # Errors
    ///
    /// JSON, CSV or TSV is malformed, or a line ends with a carriage return alone.
    pub fn read(text: &'t str) -> Result<Self, ParseError> {
        ScoringRows::read(text, Form::of(text), File::Rankings).map(Self)
    }

    /// Rankings in memory.
    pub fn of(table: &'t Table) -> Self {
        Self(ScoringRows::Table(Cow::Borrowed(table)))
    }

    /// The ids of all queries, in byte order.
    pub fn queries(&self) -> impl Iterator<Item = &str> {
        self.0.queries()
    }

    /// The documents of the query at this position with their scores, in the order of the file.
    ///
    /// # Errors
    ///
    /// A line is malformed, or a document is listed twice.
    pub fn documents(&self, query: usize) -> Result<Vec<(&str, f64)>, ParseError> {
        self.0.documents(query)
    }

    /// The tag of the last line, which `trec_eval` calls `runid`; `None` in other forms than TREC.
    pub fn tag(&self) -> Option<&str> {
        match &self.0 {
            ScoringRows::Trec(lines) => lines.tag(),
            ScoringRows::Table(_) => None,
        }
    }

    /// All rankings, in the order of their scores in double precision; see [`Ranking::of_doubles`].
    ///
    /// # Errors
    ///
    /// A line is malformed, a document is listed twice for a query, or a score is beyond single precision.
    pub fn to_run(&self) -> Result<Run, ParseError> {
        let mut rows = Vec::new();
        let mut run = Run::new();
        for index in 0..self.0.len() {
            self.0.rows(index, &mut rows)?;
            let query = self.0.query(index);
            let documents: Result<Vec<_>, _> = rows.iter().map(scored).collect();
            let ranking = Ranking::of_doubles(documents?);
            let ranking = ranking.map_err(|_| duplicate(query, &rows))?;
            run.insert(query.to_owned(), ranking);
        }
        Ok(run)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rankings hold scores in single precision"
)]
fn scored(row: &FileRow<'_>) -> Result<(String, f64), ParseError> {
    if (row.value as f32).is_finite() {
        return Ok((row.id.to_owned(), row.value));
    }
    Err(ParseError::ScoreRange {
        line: row.line,
        value: row.value.to_string(),
    })
}

/// The error for the first document that is listed twice.
fn duplicate(query: &str, rows: &[FileRow<'_>]) -> ParseError {
    let mut lines = BTreeMap::new();
    let mut rows = rows.iter();
    let twice = rows.find_map(|row| Some((row, lines.insert(row.id, row.line)?)));
    let (row, first) = twice.expect("of finite scores only duplicates are refused");
    ParseError::Duplicate {
        line: row.line,
        first,
        query: query.to_owned(),
        document: row.id.to_owned(),
    }
}
