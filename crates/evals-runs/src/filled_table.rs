//! CSV files that somebody fills in with a spreadsheet.

use std::path::Path;

use anyhow::{Error, Result, anyhow, bail};
use evals::render::csv::unguarded;
use evals_guard::csv::CsvError;
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

/// The titles of the columns, which are all different.
pub(crate) fn titles<'h>(file: &str, header: &'h [String]) -> Result<Vec<&'h str>> {
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
pub(crate) fn torn(file: &str, error: CsvError) -> Error {
    match error {
        CsvError::Io(error) => error.into(),
        CsvError::Fault { line, fault } => anyhow!("`{file}`, line {line}: {fault}"),
    }
}

/// Fails if there are wrong cells, each with its line, its column and what is wrong, and lists the first of them. `what` is what the file
/// would have added.
pub(crate) fn refuse<'p>(
    file: &str,
    what: &str,
    titles: &[&str],
    wrong: impl ExactSizeIterator<Item = (u64, usize, &'p str)>,
) -> Result<()> {
    let all = wrong.len();
    if all == 0 {
        return Ok(());
    }
    let listed = wrong.take(LISTED).map(|(line, column, what)| {
        let title = titles.get(column).unwrap_or(&"");
        format!("line {line}, column {} (`{title}`): {what}", column + 1)
    });
    let mut listed: Vec<String> = listed.collect();
    if all > LISTED {
        listed.push(format!("and {} more", all - LISTED));
    }
    bail!(
        "cannot import `{file}`, so no {what} was added:\n{}",
        listed.join("\n")
    )
}

/// Whether a cell holds a text, guarded or not.
pub(crate) fn holds(cell: &str, text: &str) -> bool {
    cell == text || unguarded(cell) == text
}
