//! A finished retrieval run.

use evals::{Report, Summary};
use evals_rag::Retrieval;

use crate::page::PageSource;
use crate::run_folder::RunFolder;

/// The finished retrieval run of one profile or target.
#[derive(Debug)]
pub(crate) struct FinishedRankings {
    /// The profile, or the target.
    pub(crate) label: String,
    pub(crate) report: Report<Retrieval>,
    pub(crate) summary: Summary,
    /// What its page shows beside the report.
    pub(crate) source: PageSource,
    /// The folder for the report.
    pub(crate) folder: RunFolder,
    /// The calls, tokens and cost of reranking, in one line.
    pub(crate) reranking: Option<String>,
}
