//! Judgements and rankings as CSV or TSV with a header, as BEIR has them: `query-id`, `corpus-id`, `score`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::error::File;
use super::source::{OwnedRow, OwnedRows};
use crate::trec::ParseError;

const QUERY: [&str; 7] = [
    "query_id",
    "query",
    "qid",
    "q_id",
    "topic",
    "topic_id",
    "question_id",
];
const DOCUMENT: [&str; 9] = [
    "corpus_id",
    "doc_id",
    "docid",
    "docno",
    "document_id",
    "document",
    "doc",
    "pid",
    "uri",
];
const VALUE: [&str; 7] = [
    "score",
    "grade",
    "relevance",
    "rel",
    "label",
    "sim",
    "similarity",
];

/// Where the three columns are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    delimiter: char,
    query: usize,
    document: usize,
    value: usize,
}

impl Header {
    /// Reads the first line; `None` unless it names all three columns.
    pub(super) fn of(text: &str) -> Option<Self> {
        let line = text.lines().next()?;
        let delimiter = if line.contains('\t') { '\t' } else { ',' };
        let names: Vec<String> = split(line, delimiter)?
            .iter()
            .map(|name| name.trim().to_ascii_lowercase().replace(['-', ' '], "_"))
            .collect();
        let find = |known: &[&str]| names.iter().position(|name| known.contains(&name.as_str()));
        Some(Self {
            delimiter,
            query: find(&QUERY)?,
            document: find(&DOCUMENT)?,
            value: find(&VALUE)?,
        })
    }
}

pub(super) fn read(text: &str, file: File) -> Result<OwnedRows, ParseError> {
    let above = text.len() - text.trim_start().len();
    let above = text[..above].matches('\n').count();
    let text = text.trim_start();
    let header = Header::of(text).expect("the form was found by the header");
    let mut queries: BTreeMap<String, Vec<OwnedRow>> = BTreeMap::new();
    for (index, line) in text.lines().enumerate().skip(1) {
        let number = above + index + 1;
        if line.trim().is_empty() {
            continue;
        }
        let fields = split(line, header.delimiter).ok_or(ParseError::Quotes { line: number })?;
        let field = |column: usize| {
            let field = fields.get(column).map(|field| field.trim());
            field.filter(|it| !it.is_empty()).ok_or(ParseError::Fields {
                line: number,
                expected: "a value in each column of the header",
                found: fields.len(),
            })
        };
        let row = OwnedRow {
            id: field(header.document)?.to_owned(),
            value: value(field(header.value)?, number, file)?,
            line: number,
        };
        let query = field(header.query)?;
        match queries.get_mut(query) {
            Some(rows) => rows.push(row),
            None => {
                queries.insert(query.to_owned(), vec![row]);
            }
        }
    }
    Ok(queries.into_iter().collect())
}

fn value(text: &str, line: usize, file: File) -> Result<f64, ParseError> {
    let owned = || text.to_owned();
    match file {
        File::Judgements => text
            .parse::<i32>()
            .map(f64::from)
            .map_err(|_| ParseError::Grade {
                line,
                value: owned(),
            }),
        File::Rankings => text
            .parse()
            .ok()
            .filter(|score: &f64| score.is_finite())
            .ok_or_else(|| ParseError::Score {
                line,
                value: owned(),
            }),
    }
}

/// The fields of a line; `None` if a quoted one does not end in this line.
fn split(line: &str, delimiter: char) -> Option<Vec<Cow<'_, str>>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) if delimiter == ',' => unquote(quoted)?,
            _ => {
                let end = rest.find(delimiter).unwrap_or(rest.len());
                (Cow::Borrowed(&rest[..end]), &rest[end..])
            }
        };
        fields.push(field);
        match after.strip_prefix(delimiter) {
            Some(more) => rest = more,
            None if after.trim().is_empty() => return Some(fields),
            None => return None,
        }
    }
}

/// The text up to the closing quote, in which two quotes stand for one, and what follows.
fn unquote(quoted: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut from = 0;
    loop {
        let end = from + quoted[from..].find('"')?;
        if quoted[end + 1..].starts_with('"') {
            from = end + 2;
            continue;
        }
        let inside = &quoted[..end];
        let field = if inside.contains('"') {
            Cow::Owned(inside.replace("\"\"", "\""))
        } else {
            Cow::Borrowed(inside)
        };
        return Some((field, &quoted[end + 1..]));
    }
}
