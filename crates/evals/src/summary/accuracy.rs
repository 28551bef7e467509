//! How far failures leave a pass rate open.

use evals_metrics::Mean;
use serde::{Deserialize, Serialize};

use super::column::Gap;
use super::count;
use crate::Direction;

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

/// Counts the repetitions of an assertion, case by case.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    total: Counts,
    case: Counts,
    undefined: usize,
    cases: usize,
    /// Sums over the cases.
    lowest: f64,
    highest: f64,
    coverage: f64,
}

#[derive(Debug, Default)]
struct Counts {
    passed: usize,
    failed: usize,
    judge_failures: usize,
    task_failures: usize,
}

impl Attempts {
    pub(super) fn score(&mut self, passed: bool) {
        if passed {
            self.case.passed += 1;
        } else {
            self.case.failed += 1;
        }
    }

    pub(super) fn miss(&mut self, gap: Gap<'_>) {
        match gap {
            Gap::TaskFailed => self.case.task_failures += 1,
            Gap::EvaluatorFailed => self.case.judge_failures += 1,
            Gap::Undefined(_) => self.undefined += 1,
        }
    }

    pub(super) fn close_case(&mut self) {
        let case = std::mem::take(&mut self.case);
        let all = case.all();
        if all > 0 {
            let share = |part: usize| count(part) / count(all);
            self.cases += 1;
            self.lowest += share(case.passed);
            self.highest += share(all - case.failed);
            self.coverage += share(case.passed + case.failed);
        }
        self.total.add(&case);
    }

    pub(super) fn accuracy(&self, scored: Mean, better: Direction) -> Accuracy {
        let mean = |sum: f64| (self.cases > 0).then(|| sum / count(self.cases));
        let (lowest, highest) = (mean(self.lowest), mean(self.highest));
        let (worst, best) = match better {
            Direction::Higher | Direction::Unknown => (lowest, highest),
            Direction::Lower => (highest, lowest),
        };
        Accuracy {
            scored,
            worst,
            best,
            coverage: mean(self.coverage),
            cases: self.cases,
            passed: self.total.passed,
            failed: self.total.failed,
            judge_failures: self.total.judge_failures,
            task_failures: self.total.task_failures,
            undefined: self.undefined,
        }
    }
}

impl Counts {
    fn all(&self) -> usize {
        self.passed + self.failed + self.judge_failures + self.task_failures
    }

    fn add(&mut self, case: &Self) {
        self.passed += case.passed;
        self.failed += case.failed;
        self.judge_failures += case.judge_failures;
        self.task_failures += case.task_failures;
    }
}
