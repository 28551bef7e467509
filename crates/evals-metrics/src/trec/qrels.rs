//! Qrels files: judgements.

use std::io::Write;

use super::line::{TrecLine, check_field, refuse_lone_returns};
use super::{ParseError, WriteError};
use crate::Qrels;

/// Reads a qrels file: four fields per line, `query iteration document grade`.
///
/// A document that is judged twice for a query is an error, as in `trec_eval`, even where both
/// grades agree.
pub fn parse_qrels(text: &str) -> Result<Qrels, ParseError> {
    refuse_lone_returns(text)?;
    let mut qrels = Qrels::new();
    for line in TrecLine::all(text) {
        let [query, _iteration, document, grade] =
            line.exactly("4 fields (query, iteration, document, grade)")?;
        let grade = grade.parse().map_err(|_| ParseError::Grade {
            line: line.number,
            value: grade.to_owned(),
        })?;
        if qrels.judge(query, document, grade).is_some() {
            return Err(ParseError::Duplicate {
                line: line.number,
                first: first_mention(text, query, document),
                query: query.to_owned(),
                document: document.to_owned(),
            });
        }
    }
    Ok(qrels)
}

/// The line that mentions a document of a query first. It runs only after a file was refused.
fn first_mention(text: &str, query: &str, document: &str) -> usize {
    let mut lines = TrecLine::all(text);
    let first = lines.find(|line| {
        matches!(line.exactly(""), Ok([this, _, that, _]) if (this, that) == (query, document))
    });
    first.map_or(0, |line| line.number)
}

/// Writes a qrels file, queries and documents in byte order of their ids; iteration is `0`.
///
/// A query without judgements has no line.
pub fn write_qrels(mut out: impl Write, qrels: &Qrels) -> Result<(), WriteError> {
    for (query, judgements) in qrels.iter() {
        let query = check_field(query)?;
        for (document, grade) in judgements.iter() {
            writeln!(out, "{query} 0 {} {grade}", check_field(document)?)?;
        }
    }
    Ok(())
}
