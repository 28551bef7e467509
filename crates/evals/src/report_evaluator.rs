//! Evaluators of whole reports, which make analyses.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::{Analysis, Domain, EvaluatorError, EvaluatorSpec, Report};

/// Judges a finished experiment as a whole.
///
/// One that fails or panics becomes a failure in the report; the others are unaffected.
#[async_trait]
pub trait ReportEvaluator<D: Domain>: Debug + Send + Sync {
    /// Names the evaluator in reports.
    fn name(&self) -> &str;

    /// The evaluator as a dataset file would write it, defaults left out; `None`, the default, for one that no file can name.
    fn spec(&self) -> Option<EvaluatorSpec> {
        None
    }

    /// Analyses the finished cases. The report has no analyses yet. The report of a run that ended early holds the cases that
    /// were finished.
    async fn evaluate(&self, report: &Report<D>) -> Result<Vec<Analysis>, EvaluatorError>;
}
