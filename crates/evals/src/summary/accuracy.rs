//! A pass rate and its bounds where failures leave it open.

use evals_metrics::Mean;
use serde::{Deserialize, Serialize};

/// A pass rate with what it would be had nothing failed.
///
/// A failed task and a failed evaluator say nothing about whether the output was right, so `scored` leaves them out. What they
/// leave open lies between `worst` and `best`. Repetitions for which the assertion is undefined are not part of anything here
/// but their own count, and neither are cases that were not run.
///
/// All shares are means over cases: the share of a case is that of its repetitions, so that a case weighs the same however
/// often it was run, and `worst`, `scored` and `best` are always in order. The counts are of repetitions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    /// The pass rate over what was scored; the same as in [`Summary::assertions`](crate::Summary::assertions).
    pub scored: Mean,
    /// The pass rate if everything that failed had been wrong. Where less is better, it is the rate if all had passed.
    pub worst: Option<f64>,
    /// The pass rate if everything that failed had been right.
    pub best: Option<f64>,
    /// The share that was scored.
    pub coverage: Option<f64>,
    /// Over how many cases `worst`, `best` and `coverage` are. They are `None` where it is 0.
    pub cases: usize,
    /// How often the assertion passed.
    pub passed: usize,
    /// How often it did not.
    pub failed: usize,
    /// How often the evaluator failed.
    pub judge_failures: usize,
    /// How often the task failed.
    pub task_failures: usize,
    /// How often the assertion was undefined.
    pub undefined: usize,
}

impl Accuracy {
    /// Whether nothing failed, so that the pass rate is the whole truth.
    pub fn is_complete(&self) -> bool {
        self.judge_failures == 0 && self.task_failures == 0
    }
}
