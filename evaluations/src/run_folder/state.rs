//! How far a run came, and what is to be had from it.

use std::fmt;

use evals::Summary;
use evals_rag::qa::Equivalence;

use evals_messages::quantity;

/// How far a run came.
///
/// Every command that chooses among runs goes by this: what is *finished* may be taken unasked, the others have to be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunState {
    /// A process is working on it.
    Running,
    /// It ended before all of its cases were run. `None` where nothing tells how many are left.
    Unfinished(Option<Left>),
    /// All cases were run, and nothing was measured.
    Failed(RunFailure),
    /// All cases were run, and something was measured.
    Finished(Failures),
    /// Its report is not one that this version reads.
    Unreadable,
}

/// What is left to do of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Left {
    /// Runs of cases that are missing.
    pub(crate) not_run: usize,
    /// Runs of cases that were planned.
    pub(crate) of: usize,
}

/// Why nothing was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunFailure {
    /// Every case failed.
    NoResult,
    /// There are answers, and no verdict on any of them.
    NoVerdict,
}

/// What failed in a run that measured something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Failures {
    /// Runs of cases without a result.
    pub(crate) cases: usize,
    /// Runs of cases that were planned.
    pub(crate) of: usize,
    /// Evaluators that could not say anything, over all cases.
    pub(crate) evaluators: usize,
}

impl RunState {
    /// The state of a run that left a report with `summary`.
    pub(crate) fn of(summary: &Summary) -> Self {
        if summary.interrupted || summary.not_run > 0 {
            return Self::Unfinished(Some(Left {
                not_run: summary.not_run,
                of: summary.finished.saturating_add(summary.not_run),
            }));
        }
        match RunFailure::of(summary) {
            Some(nothing) => Self::Failed(nothing),
            None => Self::Finished(Failures {
                cases: summary.failed,
                of: summary.finished,
                evaluators: summary.evaluator_failures,
            }),
        }
    }

    /// Whether all cases were run, whatever came of them.
    pub(crate) fn is_complete(self) -> bool {
        matches!(self, Self::Failed(_) | Self::Finished(_))
    }

    /// Whether nothing is missing from what the run was to measure.
    pub(crate) fn has_no_failures(self) -> bool {
        matches!(self, Self::Finished(failures) if failures.cases == 0 && failures.evaluators == 0)
    }
}

impl RunFailure {
    /// Whether a run with this summary measured nothing although it ran its cases.
    pub(crate) fn of(summary: &Summary) -> Option<Self> {
        if summary.finished > 0 && summary.failed == summary.finished {
            return Some(Self::NoResult);
        }
        let mut accuracies = summary.accuracy.iter();
        let (_, judged) = accuracies.find(|(name, _)| name == Equivalence::OUTCOME)?;
        (judged.scored.n == 0 && judged.judge_failures > 0).then_some(Self::NoVerdict)
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running => formatter.write_str("running"),
            Self::Unfinished(None) => formatter.write_str("unfinished"),
            Self::Unfinished(Some(Left { not_run, of })) => {
                write!(formatter, "unfinished, {not_run} of {of} not run")
            }
            Self::Failed(RunFailure::NoResult) => {
                formatter.write_str("failed, no case has a result")
            }
            Self::Failed(RunFailure::NoVerdict) => {
                formatter.write_str("failed, no answer was judged")
            }
            Self::Finished(failures) => failures.fmt(formatter),
            Self::Unreadable => formatter.write_str("unreadable"),
        }
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("finished")?;
        if self.cases > 0 {
            write!(formatter, ", {} of {} failed", self.cases, self.of)?;
        }
        if self.evaluators > 0 {
            let failed = quantity::of(self.evaluators, "evaluation");
            write!(formatter, ", {failed} failed")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn summary(finished: usize, failed: usize, not_run: usize) -> Summary {
        let times = json!({"n": 0, "p50": null, "p95": null, "p99": null});
        serde_json::from_value(json!({
            "name": "", "dataset": "", "repeat": 1, "finished": finished, "failed": failed,
            "evaluator_failures": 0, "interrupted": not_run > 0, "not_run": not_run, "seconds": 1.0,
            "scores": {}, "assertions": {}, "labels": {}, "metrics": {}, "timings": {},
            "cached_timings": {}, "task_time": times,
        }))
        .unwrap()
    }

    #[test]
    fn a_run_with_some_results_is_finished_and_one_with_none_failed() {
        let state = |finished, failed, not_run| RunState::of(&summary(finished, failed, not_run));
        assert_eq!(state(40, 0, 0).to_string(), "finished");
        assert_eq!(state(40, 3, 0).to_string(), "finished, 3 of 40 failed");
        assert_eq!(state(40, 40, 0), RunState::Failed(RunFailure::NoResult));
        assert_eq!(
            state(30, 30, 10).to_string(),
            "unfinished, 10 of 40 not run",
            "what is left may succeed"
        );
        assert!(state(40, 0, 0).has_no_failures() && !state(40, 3, 0).has_no_failures());
        assert!(state(40, 40, 0).is_complete() && !state(30, 0, 10).is_complete());
    }

    #[test]
    fn answers_without_a_verdict_measure_nothing() {
        let judged = |passed: usize, judge_failures: usize| {
            let mut summary = summary(4, 0, 0);
            summary.evaluator_failures = judge_failures;
            let mut accuracy = evals::Accuracy {
                judge_failures,
                ..evals::Accuracy::default()
            };
            accuracy.scored.n = passed;
            summary.accuracy = vec![(Equivalence::OUTCOME.to_owned(), accuracy)];
            RunState::of(&summary)
        };
        assert_eq!(judged(0, 4), RunState::Failed(RunFailure::NoVerdict));
        assert_eq!(judged(3, 1).to_string(), "finished, 1 evaluation failed");
        assert!(
            judged(0, 0).has_no_failures(),
            "nothing had a reference answer"
        );
    }
}
