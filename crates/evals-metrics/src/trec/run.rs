//! Run files: rankings.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;

use super::line::{TrecLine, check_field, refuse_lone_returns};
use super::{ParseError, WriteError};
use crate::{Ranking, RankingError, Run, ScoredDocument};

const RUN_FIELDS: &str = "6 fields (query, Q0, document, rank, score, tag)";

/// Reads a run file: six fields per line, `query Q0 document rank score tag`.
///
/// The ranking comes only from the scores and ids; the file's order and ranks are ignored. A
/// document that is listed twice for a query is an error, as in `trec_eval`.
///
/// Scores are rounded to single precision, as in `trec_eval` 9, so that different ones may tie. [`parse_run_of_doubles`] does not.
pub fn parse_run(text: &str) -> Result<Run, ParseError> {
    parse(text, |documents| {
        let rounded = documents.into_iter().map(|(id, score)| ScoredDocument {
            id,
            score: single(score),
        });
        Ranking::new(rounded)
    })
}

/// [`parse_run`] in the order of `trec_eval` 10, which holds scores in double precision; see [`Ranking::of_doubles`].
pub fn parse_run_of_doubles(text: &str) -> Result<Run, ParseError> {
    parse(text, Ranking::of_doubles)
}

fn parse(
    text: &str,
    rank: impl Fn(Vec<(String, f64)>) -> Result<Ranking, RankingError>,
) -> Result<Run, ParseError> {
    refuse_lone_returns(text)?;
    let mut documents: BTreeMap<&str, Vec<(String, f64)>> = BTreeMap::new();
    for line in TrecLine::all(text) {
        let [query, _q0, document, _rank, score, _tag] = line.exactly(RUN_FIELDS)?;
        let score = parse_score(score).ok_or_else(|| not_a_score(line.number, score))?;
        let of_query = documents.entry(query).or_default();
        of_query.push((document.to_owned(), score));
    }
    let mut run = Run::new();
    for (query, documents) in documents {
        let ranking = rank(documents).map_err(|_| {
            first_duplicate(text).expect("of finite scores only duplicates are rejected")
        })?;
        run.insert(query.to_owned(), ranking);
    }
    Ok(run)
}

/// Finds the second line of a repeated document. It runs only after a ranking was rejected, because
/// keeping every line would take longer than all other parsing.
fn first_duplicate(text: &str) -> Option<ParseError> {
    let mut seen = HashMap::new();
    TrecLine::all(text).find_map(|line| {
        let [query, _q0, document, _rank, _score, _tag] = line.exactly(RUN_FIELDS).ok()?;
        let first = seen.insert((query, document), line.number)?;
        Some(ParseError::Duplicate {
            line: line.number,
            first,
            query: query.to_owned(),
            document: document.to_owned(),
        })
    })
}

/// Writes a run file, queries in byte order of their ids, documents by rank.
///
/// Scores have the fewest digits that read back to the same number here, in `trec_eval` and in
/// Python, so scoring the file gives the scores of the run. A query with an empty ranking has no
/// line: score such a file over all judged queries ([`Queries::Judged`](crate::Queries::Judged),
/// `trec_eval -c`).
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

/// Reads a score as C and Python do, as a double. `None` beyond the range of single precision.
fn parse_score(text: &str) -> Option<f64> {
    let score = text.parse::<f64>().ok()?;
    single(score).is_finite().then_some(score)
}

/// Rounds a score as `trec_eval` 9 does where it stores it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding twice is what `trec_eval` 9 does, and decides which scores tie"
)]
fn single(score: f64) -> f32 {
    score as f32
}

fn not_a_score(line: usize, text: &str) -> ParseError {
    let value = text.to_owned();
    // A number without digits is `inf` or `NaN` to Rust.
    if text.parse::<f64>().is_ok() && text.contains(|c: char| c.is_ascii_digit()) {
        ParseError::ScoreRange { line, value }
    } else {
        ParseError::Score { line, value }
    }
}

/// The shortest text of a score. A few floats, such as 7.038531e-26, read back as a neighbour if
/// their shortest text is rounded twice; these are written as a double.
fn format_score(score: f32) -> String {
    let shortest = format!("{score:?}");
    if parse_score(&shortest).map(single) == Some(score) {
        return shortest;
    }
    format!("{:?}", f64::from(score))
}
