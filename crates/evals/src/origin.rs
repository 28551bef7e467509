//! Which of a run's evaluators something came from.

use serde::{Deserialize, Serialize};

/// Where an evaluator of a run stands. Together with the evaluator's name it tells it from all others of the run.
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
