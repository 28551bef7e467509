use std::collections::{BTreeMap, HashSet};
use std::io::Write;

use super::line::Line;
use super::write_error::check_field;
use super::{ParseError, WriteError};
use crate::{Ranking, Run, ScoredDocument};

/// Reads a run file: six fields per line, `query Q0 document rank score tag`; what follows them is
/// ignored.
///
/// The ranking comes from the scores and ids alone, whatever the file's order and ranks. A document
/// that is listed twice for a query is an error, as in `trec_eval`.
pub fn parse_run(text: &str) -> Result<Run, ParseError> {
    let mut documents: BTreeMap<&str, Vec<ScoredDocument>> = BTreeMap::new();
    let mut seen = HashSet::new();
    for line in Line::all(text) {
        let [query, _q0, document, _rank, score, _tag] =
            line.at_least("6 fields (query, Q0, document, rank, score, tag)")?;
        let score = parse_score(score).ok_or_else(|| ParseError::Score {
            line: line.number,
            value: score.to_owned(),
        })?;
        if !seen.insert((query, document)) {
            return Err(ParseError::Duplicate {
                line: line.number,
                query: query.to_owned(),
                document: document.to_owned(),
            });
        }
        let id = document.to_owned();
        documents
            .entry(query)
            .or_default()
            .push(ScoredDocument { id, score });
    }
    Ok(documents
        .into_iter()
        .map(|(query, documents)| {
            let ranking = Ranking::new(documents).expect("scores are finite and ids unique");
            (query.to_owned(), ranking)
        })
        .collect())
}

/// Writes a run file, queries in byte order of their ids, documents by rank.
///
/// Scores are written with as few digits as read back to the same number, in this module, in
/// `trec_eval` and in Python, so that scoring the file gives the scores of the run. A query with an
/// empty ranking leaves no line: such a file is to be scored over all judged queries
/// ([`Queries::Judged`](crate::Queries::Judged), `trec_eval -c`).
pub fn write_run(mut out: impl Write, run: &Run, tag: &str) -> Result<(), WriteError> {
    let tag = check_field(tag)?;
    for (query, ranking) in run {
        let query = check_field(query)?;
        for (index, document) in ranking.iter().enumerate() {
            let id = check_field(&document.id)?;
            let score = format_score(document.score);
            writeln!(out, "{query} Q0 {id} {} {score} {tag}", index + 1)?;
        }
    }
    Ok(())
}

/// Reads a score as C and Python do, as a double, and rounds it to a float where `trec_eval` stores
/// it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding twice is what `trec_eval` does, and decides which scores tie"
)]
fn parse_score(text: &str) -> Option<f32> {
    let score = text.parse::<f64>().ok()? as f32;
    score.is_finite().then_some(score)
}

/// The shortest text of a score. A few floats, such as 7.038531e-26, come back as their neighbour
/// when their shortest text is rounded twice; those are written as the double that they equal.
fn format_score(score: f32) -> String {
    let shortest = format!("{score:?}");
    if parse_score(&shortest) == Some(score) {
        return shortest;
    }
    format!("{:?}", f64::from(score))
}
