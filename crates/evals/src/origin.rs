//! The origin of an outcome or a failure: an evaluator's position in the run.

use serde::{Deserialize, Serialize};

/// The position of an evaluator in a run. Together with its name it identifies the evaluator.
///
/// An evaluator of the dataset has the same origin in every case. Own evaluators of different cases count as one evaluator
/// if they have the same name; within one case, those with equal names are numbered.
///
/// In JSON: `{"dataset": 2}` or `{"case": 1}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvaluatorOrigin {
    /// One of a case's own evaluators: its position among those of its name, from 1.
    Case(u32),
    /// One of the dataset's evaluators: its position, from 1. It is 0 in reports that do not record it.
    Dataset(u32),
}

impl Default for EvaluatorOrigin {
    fn default() -> Self {
        Self::Dataset(0)
    }
}
