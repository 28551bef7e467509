//! Files of pages.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;
use evals_html::page::{CaseRows, Opening, Page, Written};
use evals_messages::chain;
use evals_runs::atomic_file::write_atomically;
use evals_runs::run_folder::{PAGE, RunFolder};

use super::paged::HasPage;
use super::run::RunPage;

impl<D: HasPage> RunPage<'_, D> {
    /// Writes the page into the folder of its run. Returns a warning if it cannot be written, because the report is, or if browsers open
    /// it slowly.
    pub fn write_into(&self, folder: &RunFolder) -> Option<String> {
        let path = folder.path().join(PAGE);
        write_file(&path, |out| self.write(out)).unwrap_or_else(|error| {
            let reason = chain(error.as_ref());
            Some(format!("the run has no page: {reason}"))
        })
    }
}

/// Writes a page into a file. Returns a warning about a page that browsers open slowly, or that lacks passages.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<Written>,
) -> Result<Option<String>> {
    let mut written = None;
    write_atomically(path, |file| {
        written =
            Some(write(file).map_err(|error| io::Error::other(error.into_boxed_dyn_error()))?);
        Ok(())
    })?;
    Ok(size_warning(path, written.expect("the file was written")))
}

/// Writes a page without cases.
pub fn write_opening(opening: &Opening, out: impl Write) -> Result<Written> {
    Ok(Page::new(opening, &CaseRows::default()).write([], out)?)
}

fn size_warning(path: &Path, written: Written) -> Option<String> {
    let path = path.display();
    let megabytes = written.bytes / 1_000_000;
    if written.passages_left_out > 0 {
        return Some(format!(
            "`{path}` has {megabytes} MB and leaves out passages of the last cases, because browsers open larger pages slowly or not \
             at all"
        ));
    }
    written.is_large().then(|| {
        format!(
            "`{path}` has {megabytes} MB, which browsers open slowly; `evaluations runs report RUN --out FILE.html --without-texts` \
             writes a smaller page"
        )
    })
}
