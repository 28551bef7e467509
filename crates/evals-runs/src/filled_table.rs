//! CSV files that somebody fills in with a spreadsheet.

use std::path::Path;

use anyhow::{Error, Result, anyhow, bail};
use evals::render::csv::unguarded;
use evals_guard::csv::{CsvError, Table, separator, without_mark};
use evals_guard::regular_file::{self, FileError};

/// Most problems that one message lists.
const LISTED: usize = 10;

/// The size limit of a file to import, in bytes.
const LARGEST: u64 = 512_000_000;

/// Refuses to write an export over a file that exists. `done` is what somebody may have done in it, such as `graded`.
///
/// # Errors
///
/// There is something at the path.
pub fn check_new(path: &Path, done: &str) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        bail!(
            "`{}` exists; choose a different name, because somebody may have {done} in it",
            path.display()
        );
    }
    Ok(())
}

/// The bytes of a file to import.
///
/// # Errors
///
/// The file cannot be read, or is larger than 512 MB.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    regular_file::read(path, LARGEST)
}

/// The column of a wrong cell, and what is wrong with it.
pub(crate) type Wrong = (&'static str, String);

/// A row of a filled file.
pub(crate) struct Row<'r> {
    /// The line on which it begins, from 1.
    pub(crate) line: u64,
    titles: &'r [&'r str],
    cells: Vec<&'r str>,
}

impl<'r> Row<'r> {
    /// The cell as it is written; `None` if the file has no such column.
    pub(crate) fn whole(&self, column: &str) -> Option<&'r str> {
        self.cells.get(place(self.titles, column)?).copied()
    }

    /// The cell without the white space around it, and without the apostrophe that an export puts before a formula; empty if the file has no
    /// such column.
    pub(crate) fn text(&self, column: &str) -> &'r str {
        unguarded(self.whole(column).unwrap_or_default().trim())
    }

    /// The same; `None` if it is empty.
    pub(crate) fn filled(&self, column: &str) -> Option<String> {
        Some(self.text(column).to_owned()).filter(|text| !text.is_empty())
    }
}

fn place(titles: &[&str], column: &str) -> Option<usize> {
    titles.iter().position(|it| it.eq_ignore_ascii_case(column))
}

/// Reads a filled file. `read` says what a row adds; `None` if nobody filled it in. `what` is that in messages, `needed` are the columns that
/// the file must have, and `advice` says where to get one that has them.
///
/// # Errors
///
/// The file is no such table, or cells are wrong: it names the first ten. Nothing of the file is then to be imported.
pub(crate) fn rows<T>(
    (file, bytes): (&str, &[u8]),
    (what, needed, advice): (&str, &[&str], &str),
    mut read: impl FnMut(&Row<'_>) -> Result<Option<T>, Wrong>,
) -> Result<Vec<T>> {
    let torn = |error| torn(file, error);
    let text = without_mark(bytes)?;
    let mut table = Table::open(text, separator(bytes)).map_err(torn)?;
    let header = table.header().to_vec();
    let titles = titles(file, &header)?;
    if let Some(column) = needed.iter().find(|it| place(&titles, it).is_none()) {
        bail!("`{file}`, line 1: there is no column `{column}`; {advice}");
    }
    let (mut given, mut wrong) = (Vec::new(), Vec::new());
    while let Some(record) = table.row().map_err(torn)? {
        let row = Row {
            line: record.line(),
            titles: &titles,
            cells: record.texts().map_err(torn)?,
        };
        match read(&row) {
            Ok(added) => given.extend(added),
            Err((column, what)) => {
                let column = place(&titles, column).unwrap_or_default();
                let title = titles.get(column).unwrap_or(&"");
                let (line, column) = (row.line, column + 1);
                wrong.push(format!("line {line}, column {column} (`{title}`): {what}"));
            }
        }
    }
    if wrong.is_empty() {
        return Ok(given);
    }
    if wrong.len() > LISTED {
        let more = format!("and {} more", wrong.len() - LISTED);
        wrong.truncate(LISTED);
        wrong.push(more);
    }
    bail!(
        "cannot import `{file}`, so no {what} was added:\n{}",
        wrong.join("\n")
    )
}

/// The titles of the columns, which are all different.
fn titles<'h>(file: &str, header: &'h [String]) -> Result<Vec<&'h str>> {
    let titles: Vec<&str> = header.iter().map(|title| title.trim()).collect();
    for (place, title) in titles.iter().enumerate() {
        if !title.is_empty() && titles[..place].contains(title) {
            bail!(
                "`{file}`, line 1, column {}: two columns are named `{title}`",
                place + 1
            );
        }
    }
    Ok(titles)
}

/// What is wrong with the form of the file.
fn torn(file: &str, error: CsvError) -> Error {
    match error {
        CsvError::Io(error) => error.into(),
        CsvError::Fault { line, fault } => anyhow!("`{file}`, line {line}: {fault}"),
    }
}

/// Whether a cell holds a text, guarded or not.
pub(crate) fn holds(cell: &str, text: &str) -> bool {
    cell == text || unguarded(cell) == text
}
