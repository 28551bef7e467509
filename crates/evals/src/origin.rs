//! Which evaluator of a run an outcome or a failure came from.

use serde::{Deserialize, Serialize};

/// The position of an evaluator in a run. Together with its name it identifies the evaluator.
///
/// An evaluator of the dataset has the same origin in every case. The own evaluators of several cases count as one
/// evaluator where they have the same name; within one case those of equal names are numbered.
///
/// In JSON: `{"dataset": 2}` or `{"case": 1}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvaluatorOrigin {
    /// One of a case's own evaluators; which of those of its name, from 1.
    Case(u32),
    /// One of the dataset's evaluators; which of them, from 1. It is 0 in reports that do not say.
    Dataset(u32),
}

impl Default for EvaluatorOrigin {
    fn default() -> Self {
        Self::Dataset(0)
    }
}
