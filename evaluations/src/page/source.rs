//! What a page shows beside its report.

use evals::render::tables::Table;
use evals_html::page::{Place, Texts};
use evals_metrics::Bootstrap;
use serde_json::Value;

use super::documents::Documents;
use crate::run_folder::RunFolder;

/// What a page shows beside its report, and whether it shows texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageSource {
    /// The manifest of the run, if it has one.
    pub(crate) manifest: Option<Value>,
    /// Texts of the corpus that the report does not hold.
    pub(crate) documents: Documents,
    /// The settings that the summary was made with.
    pub(crate) bootstrap: Bootstrap,
    pub(crate) texts: Texts,
    /// Pass rates that are corrected for the errors of their judges.
    pub(crate) corrections: Vec<Table>,
    /// The same in a line each.
    pub(crate) corrected: Vec<String>,
    /// Where the page is read.
    pub(crate) place: Place,
}

impl PageSource {
    /// What the page of a run in this folder shows beside its report. `seed` is that of the summary's intervals.
    pub(crate) fn of_run(folder: &RunFolder, seed: u64, documents: Documents) -> Self {
        Self {
            // A page says less without it.
            manifest: folder.read_manifest().ok(),
            documents,
            bootstrap: Bootstrap {
                seed,
                ..Bootstrap::default()
            },
            ..Self::default()
        }
    }
}
