//! Rows of CSV with a header line, and of tab-separated values.

use std::io::{self, BufReader, Read};

use evals_guard::csv::{self, CsvError, Record, Table};
use serde_json::Map;

use super::{OutputRow, RowProblem, cell};

/// The columns whose empty cell is a value: the system was asked, and answered nothing.
const ANSWERS: [&str; 2] = ["answer", "output"];

/// Hands each row of a file to `take`. An empty cell counts as missing, but an empty answer is one.
pub(super) fn read(
    file: &mut impl Read,
    separator: u8,
    mut take: impl FnMut(Result<OutputRow, RowProblem>),
) -> io::Result<()> {
    let text = BufReader::new(csv::without_mark(file)?);
    let mut table = match Table::open(text, separator) {
        Ok(table) => table,
        Err(error) => return problem(error, &mut take),
    };
    let columns: Vec<String> = table.header().iter().map(|it| it.trim().into()).collect();
    for (number, column) in columns.iter().enumerate() {
        // The last one would win, and nobody would see which.
        if columns[..number].contains(column) {
            take(Err(RowProblem {
                place: "line 1".to_owned(),
                what: format!("two columns are named `{column}`"),
            }));
        }
    }
    loop {
        match table.row().and_then(|row| row.map(cells).transpose()) {
            Ok(Some((place, cells))) => take(row(place, columns.iter().zip(cells))),
            Ok(None) => return Ok(()),
            Err(error) => problem(error, &mut take)?,
        }
    }
}

/// The place and the cells of a row.
fn cells(row: &Record) -> Result<(String, Vec<&str>), CsvError> {
    Ok((format!("line {}", row.line()), row.texts()?))
}

fn row<'c>(
    place: String,
    cells: impl Iterator<Item = (&'c String, &'c str)>,
) -> Result<OutputRow, RowProblem> {
    let mut fields = Map::new();
    let mut wrong = None;
    for (column, text) in cells {
        // A missing answer would be in no mean, and a system that leaves out hard questions would gain by it.
        if text.is_empty() && !ANSWERS.contains(&column.as_str()) {
            continue;
        }
        match cell::value(column, text) {
            Ok(value) => drop(fields.insert(column.to_owned(), value)),
            Err(what) => wrong = wrong.or(Some(what)),
        }
    }
    match wrong {
        None => Ok(OutputRow { place, fields }),
        Some(what) => Err(RowProblem { place, what }),
    }
}

fn problem(
    error: CsvError,
    take: &mut impl FnMut(Result<OutputRow, RowProblem>),
) -> io::Result<()> {
    match error {
        CsvError::Io(error) => Err(error),
        CsvError::Fault { line, fault } => {
            take(Err(RowProblem {
                place: format!("line {line}"),
                what: fault.to_string(),
            }));
            Ok(())
        }
    }
}
