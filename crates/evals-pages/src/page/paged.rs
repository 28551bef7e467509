//! What a benchmark adds to the pages of its reports.

use evals::{CaseReport, Report};
use evals_evaluators::pydantic_report::EvaluationReport;
use evals_html::page::{Field, Ranked};

use super::documents::Documents;
use crate::figures::HasFigures;

/// A benchmark whose reports have pages.
pub trait HasPage: HasFigures {
    /// What a case is called, such as `question`.
    const CASE: &'static str;

    /// What was asked, for the table.
    fn asked(case: &CaseReport<Self>) -> String;

    /// The texts that are the same in every run of a case, such as question and reference.
    fn shared(case: &CaseReport<Self>) -> Vec<Field>;

    /// The texts of one run, such as its answer.
    fn own(case: &CaseReport<Self>) -> Vec<Field>;

    /// The documents that a run found, best first; `None` if it did not search.
    fn ranking(case: &CaseReport<Self>, documents: &Documents) -> Option<Vec<Ranked>>;

    /// The relevant documents that a run did not find.
    fn missed(case: &CaseReport<Self>) -> Vec<String>;

    /// The documents whose texts a page shows and the report does not hold.
    fn lacking(case: &CaseReport<Self>) -> Vec<&str>;

    /// The report in pydantic-evals' format; `None` for all but runs of dataset files.
    fn pydantic(_report: &Report<Self>) -> Option<EvaluationReport> {
        None
    }
}
