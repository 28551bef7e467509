//! Classes of failures, by their consequence for the rest of a run.

use serde::{Deserialize, Serialize};

/// The consequence of a failure for the remaining cases.
///
/// A task or an evaluator that knows the class adds it to its error: [`TaskError::classed`](crate::TaskError::classed),
/// [`EvaluatorError::classed`](crate::EvaluatorError::classed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureClass {
    /// It may go away by itself: a timeout, a busy server.
    Transient,
    /// Every other case will fail in the same way: a wrong key, an empty account.
    Terminal,
    /// It affects only this case: an answer that cannot be read.
    Content,
}
