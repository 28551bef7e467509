//! What a page shows beside its report.

use std::sync::Arc;

use evals::CaseTable;
use evals::render::tables::Table;
use evals_html::page::{Place, Texts};
use evals_metrics::Bootstrap;
use evals_runs::run_folder::RunFolder;
use evals_runs::run_record::RunRecord;

use super::documents::Documents;

/// What a page shows beside its report, and whether it shows texts.
#[derive(Debug, Clone, Default)]
pub struct PageSource {
    /// The record of the run, if it has one.
    pub record: Option<Arc<RunRecord>>,
    /// Texts of the corpus that the report does not hold.
    pub documents: Documents,
    /// The settings that the summary was made with.
    pub bootstrap: Bootstrap,
    /// Whether the page holds texts.
    pub texts: Texts,
    /// Pass rates that are corrected for the errors of their judges.
    pub corrections: Vec<Table>,
    /// The same in a line each.
    pub corrected: Vec<String>,
    /// Every case of a comparison, if its files are to have rows for them.
    pub cases: Option<CaseTable>,
    /// Where the page is read.
    pub place: Place,
}

impl PageSource {
    /// What the page of a run in this folder shows beside its report. `seed` is that of the summary's intervals.
    pub fn of_run(folder: &RunFolder, seed: u64, documents: Documents) -> Self {
        Self {
            // A page says less without it.
            record: folder.read_record().ok().map(Arc::new),
            documents,
            bootstrap: Bootstrap {
                seed,
                ..Bootstrap::default()
            },
            ..Self::default()
        }
    }
}
