//! A pass rate with bounds for the cases that failed.

use evals_metrics::Mean;
use serde::{Deserialize, Serialize};

/// A pass rate, with bounds on its value if nothing had failed.
///
/// A failed task or evaluator says nothing about whether the output was right, so `scored` excludes it. The pass rate
/// without failures would lie between `worst` and `best`. Repetitions with an undefined assertion appear only in their own
/// count; cases that did not run appear nowhere.
///
/// All shares are means over cases, and the share of a case is the mean over its repetitions. Every case therefore has the
/// same weight, and `worst`, `scored` and `best` are always in order. The counts are of repetitions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// The pass rate of the scored repetitions; the same as in [`Summary::assertions`](crate::Summary::assertions).
    pub scored: Mean,
    /// The pass rate if every failure counts as wrong. For an assertion where lower is better, every failure counts as
    /// passed.
    pub worst: Option<f64>,
    /// The pass rate if every failure counts as right.
    pub best: Option<f64>,
    /// The share of repetitions that were scored.
    pub coverage: Option<f64>,
    /// The number of cases behind `worst`, `best` and `coverage`, which are `None` if it is 0.
    pub cases: usize,
    /// How often the assertion passed.
    pub passed: usize,
    /// How often the assertion did not pass.
    pub failed: usize,
    /// How often the evaluator failed.
    pub judge_failures: usize,
    /// How often the task failed.
    pub task_failures: usize,
    /// How often the assertion was undefined.
    pub undefined: usize,
}

impl Accuracy {
    /// Whether nothing failed, which makes the pass rate exact.
    pub fn is_complete(&self) -> bool {
        self.judge_failures == 0 && self.task_failures == 0
    }
}
