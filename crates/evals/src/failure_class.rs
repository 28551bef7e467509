//! What a failure means for the rest of a run.

use serde::{Deserialize, Serialize};

/// What a failure says about the cases that are still to come.
///
/// A task or an evaluator that knows gives it to its error: [`TaskError::classed`](crate::TaskError::classed),
/// [`EvaluatorError::classed`](crate::EvaluatorError::classed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureClass {
    /// It may pass by itself: a timeout, a busy server.
    Transient,
    /// Every other case will meet it too: a wrong key, an empty account.
    Terminal,
    /// It is about this case alone: an answer that cannot be read.
    Content,
}
