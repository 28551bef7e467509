//! One answer of a run, as people label it and as its judge saw it.

use evals::CaseId;

use super::label::Digests;
use super::texts::ShownPassage;

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JudgedAnswer {
    pub(crate) id: CaseId,
    pub(crate) repeat: u32,
    /// The name of its case's cluster; `None` if the case is alone.
    pub(crate) cluster: Option<String>,
    /// What to decide about the answer.
    pub(crate) criterion: String,
    pub(crate) question: String,
    pub(crate) reference: Option<String>,
    pub(crate) answer: String,
    pub(crate) passages: Vec<ShownPassage>,
    /// Whether the judge passes it; `None` if the judge has no verdict.
    pub(crate) verdict: Option<bool>,
    /// The judge's reason.
    pub(crate) reason: Option<String>,
    pub(crate) digests: Digests,
}
