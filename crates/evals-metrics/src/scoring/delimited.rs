//! Judgements and rankings as CSV or TSV with a header, as BEIR has them: `query-id`, `corpus-id`, `score`. CSV may have semicolons.

use std::borrow::Cow;

use super::line_fields::has_content;
use super::rows::File;
use super::table::{Table, TableBuilder};
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

/// Titles of columns that may hold texts. Such a column yields to a column of ids.
const TEXTS: [&str; 3] = ["query", "document", "doc"];

/// What may divide the fields. Spreadsheets write semicolons in countries that write a comma before decimals.
const DELIMITERS: [char; 3] = ['\t', ';', ','];

/// The fields of a line in TREC's form, at least.
const LEAST_OF_TREC: usize = 4;

/// Where the three columns are.
#[derive(Debug, Clone)]
pub(super) struct Header {
    delimiter: char,
    /// The number of columns, without those without a title at the end.
    columns: usize,
    query: usize,
    document: usize,
    value: usize,
    /// The first two columns with names for the same thing.
    same: Option<(&'static str, [String; 2])>,
}

impl Header {
    /// Reads the header at the beginning of a file; `None` unless it names all three columns, which no line does with two delimiters.
    pub(super) fn of(text: &str) -> Option<Self> {
        let (_, table) = table(text);
        let line = table.lines().next()?;
        let mut delimiters = DELIMITERS.into_iter();
        delimiters.find_map(|delimiter| Self::divided(line, delimiter))
    }

    fn divided(line: &str, delimiter: char) -> Option<Self> {
        let titles = split(line, delimiter)?;
        let titles: Vec<&str> = titles.iter().map(|title| title.trim()).collect();
        let mut same = None;
        let mut find = |what, known: &[&str]| {
            let found = named(&titles, known);
            if let [one, other, ..] = found[..] {
                let titles = [titles[one].to_owned(), titles[other].to_owned()];
                same.get_or_insert((what, titles));
            }
            found.first().copied()
        };
        let query = find("query", &QUERY)?;
        let document = find("document", &DOCUMENT)?;
        let value = find("value", &VALUE)?;
        Some(Self {
            delimiter,
            columns: titles
                .iter()
                .rposition(|title| !title.is_empty())
                .map_or(0, |last| last + 1),
            query,
            document,
            value,
            same,
        })
    }
}

/// The columns whose titles are among the known ones, without columns of texts beside a column of ids.
fn named(titles: &[&str], known: &[&str]) -> Vec<usize> {
    let name = |column: usize| titles[column].to_ascii_lowercase().replace(['-', ' '], "_");
    let columns = 0..titles.len();
    let found: Vec<usize> = columns
        .filter(|column| known.contains(&name(*column).as_str()))
        .collect();
    let ids = found.iter().copied();
    let ids: Vec<usize> = ids
        .filter(|column| !TEXTS.contains(&name(*column).as_str()))
        .collect();
    if ids.is_empty() { found } else { ids }
}

/// The table of a text, and the number of lines above it: blank ones, and the one in which a spreadsheet says how it divides fields.
fn table(text: &str) -> (usize, &str) {
    let table = without_blank_lines(text);
    let table = match table.split_once('\n') {
        Some((line, rest)) if is_separator(line) => without_blank_lines(rest),
        _ => table,
    };
    let above = &text[..text.len() - table.len()];
    (above.matches('\n').count(), table)
}

/// The text from the first line that is not blank. That line may begin with a tab: the title of its first column is then empty.
fn without_blank_lines(text: &str) -> &str {
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        if !line.trim().is_empty() {
            break;
        }
        rest = after;
    }
    rest
}

/// Whether a line is `sep=;` or the like. A spreadsheet that reads and writes the file again may add quotes and delimiters.
fn is_separator(line: &str) -> bool {
    let line = line.trim_end_matches('\r').replace('"', "");
    let Some((name, delimiters)) = line.split_once('=') else {
        return false;
    };
    let mut delimiters = delimiters.chars();
    name.eq_ignore_ascii_case("sep")
        && delimiters.next().is_some()
        && delimiters.all(|delimiter| DELIMITERS.contains(&delimiter))
}

/// The error for a table without a header, which would otherwise be read as TREC's form.
pub(super) fn without_header(text: &str) -> Option<ParseError> {
    let mut lines = text.lines().enumerate();
    let (above, line) = lines.find(|(_, line)| has_content(line) && !is_separator(line))?;
    if line.split_ascii_whitespace().count() >= LEAST_OF_TREC {
        return None;
    }
    let mut delimiters = DELIMITERS.into_iter();
    let delimiter = delimiters.find(|delimiter| line.matches(*delimiter).count() > 1)?;
    Some(ParseError::NoHeader {
        line: above + 1,
        delimiter,
    })
}

pub(super) fn read(text: &str, file: File) -> Result<Table, ParseError> {
    let (above, text) = table(text);
    let header = Header::of(text).expect("the form was found by the header");
    if let Some((what, columns)) = header.same {
        return Err(ParseError::SameColumns {
            line: above + 1,
            what,
            columns,
        });
    }
    let mut rows = TableBuilder::default();
    for (index, line) in text.lines().enumerate().skip(1) {
        let number = above + index + 1;
        if line.trim().is_empty() {
            continue;
        }
        let fields = split(line, header.delimiter).ok_or(ParseError::Quotes { line: number })?;
        // A comma before decimals would end the field of the value.
        if fields
            .iter()
            .skip(header.columns)
            .any(|field| !field.trim().is_empty())
        {
            return Err(ParseError::Fields {
                line: number,
                expected: match header.delimiter {
                    ',' => {
                        "as many fields as the header has, and numbers with a point before decimals"
                    }
                    _ => "as many fields as the header has",
                },
                found: fields.len(),
            });
        }
        let field = |column: usize| {
            let field = fields.get(column).map(|field| field.trim());
            field.filter(|it| !it.is_empty()).ok_or(ParseError::Fields {
                line: number,
                expected: "a value in each column of the header",
                found: fields.len(),
            })
        };
        let document = field(header.document)?;
        let value = value(field(header.value)?, number, file)?;
        rows.query(field(header.query)?);
        rows.line(document, value, number);
    }
    Ok(rows.finish())
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
            Some(quoted) if delimiter != '\t' => unquote(quoted)?,
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
