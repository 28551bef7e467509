//! What a page shows beside its report.

use evals_html::page::{Place, Texts};
use evals_metrics::Bootstrap;
use serde_json::Value;

use super::documents::Documents;

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
    /// Where the page is read.
    pub(crate) place: Place,
}
