//! Rows of CSV with a header line, and of tab-separated values.

use std::io::{self, Read};

use serde_json::Map;

use super::cell;
use super::error::RowProblem;
use super::row::OutputRow;

/// The column whose empty cell is a value: the system was asked, and answered nothing.
const ANSWER: &str = "answer";

/// Hands each row of a file to `take`. An empty cell counts as missing, but an empty answer is one.
pub(super) fn read(
    file: &mut impl Read,
    separator: u8,
    mut take: impl FnMut(Result<OutputRow, RowProblem>),
) -> io::Result<()> {
    let mut table = csv::ReaderBuilder::new()
        .delimiter(separator)
        .from_reader(file);
    let header = match table.headers() {
        Ok(header) => header.clone(),
        Err(error) => return problem(error, &mut take),
    };
    let columns: Vec<&str> = header.iter().map(column_name).collect();
    for (number, column) in columns.iter().enumerate() {
        // The last one would win, and nobody would see which.
        if columns[..number].contains(column) {
            take(Err(RowProblem {
                place: "line 1".to_owned(),
                what: format!("two columns are named `{column}`"),
            }));
        }
    }
    for record in table.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                problem(error, &mut take)?;
                continue;
            }
        };
        let place = match record.position() {
            Some(position) => format!("line {}", position.line()),
            None => "a line".to_owned(),
        };
        let cells = columns.iter().copied().zip(&record);
        let mut fields = Map::new();
        let mut wrong = None;
        for (column, text) in cells {
            // A missing answer would be in no mean, and a system that leaves out hard questions would gain by it.
            if text.is_empty() && column != ANSWER {
                continue;
            }
            match cell::value(column, text) {
                Ok(value) => drop(fields.insert(column.to_owned(), value)),
                Err(what) => wrong = wrong.or(Some(what)),
            }
        }
        take(match wrong {
            None => Ok(OutputRow { place, fields }),
            Some(what) => Err(RowProblem { place, what }),
        });
    }
    Ok(())
}

fn column_name(written: &str) -> &str {
    // The csv crate leaves the byte order mark in the first column's name.
    written.trim_start_matches('\u{feff}').trim()
}

fn problem(
    error: csv::Error,
    take: &mut impl FnMut(Result<OutputRow, RowProblem>),
) -> io::Result<()> {
    let place = error.position().map_or_else(
        || "line 1".to_owned(),
        |position| format!("line {}", position.line()),
    );
    let what = match error.into_kind() {
        csv::ErrorKind::Io(error) => return Err(error),
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!("it has {len} cells, and the header has {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => "it is not UTF-8 text".to_owned(),
        _ => "it is no CSV".to_owned(),
    };
    take(Err(RowProblem { place, what }));
    Ok(())
}
