//! The page of a run in its folder.

use anyhow::Result;
use evals::{Report, Summary};
use evals_messages::chain;
use evals_metrics::Bootstrap;

use super::folder::{PAGE, RunFolder};
use crate::page::{self, Documents, PageSource, Paged, RunPage};
use crate::terminal::Printer;

impl RunFolder {
    /// What the page of this run shows beside the report. `seed` is that of the summary's intervals.
    pub(crate) fn page_source(&self, seed: u64, documents: Documents) -> PageSource {
        PageSource {
            // A page says less without it.
            manifest: self.read_manifest().ok(),
            documents,
            bootstrap: Bootstrap {
                seed,
                ..Bootstrap::default()
            },
            ..PageSource::default()
        }
    }

    /// Writes the page. A failure is a warning, because the report is written.
    pub(crate) fn write_page<D: Paged>(
        &self,
        printer: &Printer,
        report: &Report<D>,
        summary: &Summary,
        source: &PageSource,
    ) {
        if let Err(error) = self.try_page(printer, report, summary, source) {
            printer.warn(&format!("the run has no page: {}", chain(error.as_ref())));
        }
    }

    fn try_page<D: Paged>(
        &self,
        printer: &Printer,
        report: &Report<D>,
        summary: &Summary,
        source: &PageSource,
    ) -> Result<()> {
        let page = RunPage {
            report,
            summary,
            source,
        };
        let path = self.path().join(PAGE);
        let written = page::write_file(&path, |out| page.write(out))?;
        page::note_size(printer, &path, written);
        Ok(())
    }
}
