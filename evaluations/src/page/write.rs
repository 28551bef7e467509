//! Files of pages.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use evals_html::page::{Opening, Page, Table, Written};

use crate::atomic_file::write_atomically;
use crate::terminal::Printer;

/// Writes a page into a file.
pub(crate) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<Written>,
) -> Result<Written> {
    let mut written = None;
    write_atomically(path, |file| {
        written =
            Some(write(file).map_err(|error| io::Error::other(error.into_boxed_dyn_error()))?);
        Ok(())
    })?;
    Ok(written.expect("the file was written"))
}

/// Writes a page without cases.
pub(crate) fn write_opening(opening: &Opening, out: impl Write) -> Result<Written> {
    Ok(Page::new(opening, &Table::default()).write([], out)?)
}

/// Warns about a page that browsers open slowly, or that lacks passages.
pub(crate) fn note_size(printer: &Printer, path: &Path, written: Written) {
    let megabytes = written.bytes / 1_000_000;
    if written.passages_left_out > 0 {
        printer.warn(&format!(
            "`{}` has {megabytes} MB and leaves out passages of the last cases, because browsers open larger pages slowly or not \
             at all",
            path.display()
        ));
    } else if written.is_large() {
        printer.warn(&format!(
            "`{}` has {megabytes} MB, which browsers open slowly; `evaluations report RUN --out FILE.html --without-texts` \
             writes a smaller page",
            path.display()
        ));
    }
}
