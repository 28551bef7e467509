//! The state of a run: running, unfinished, failed or finished.

use std::fmt;

use anyhow::{Context as _, Result};
use evals::{FileJournal, Summary};
use evals_guard::regular_file;
use evals_messages::quantity;

use super::failure::RunFailure;
use super::folder::{REPORT, RunFolder};
use super::head::ReportHead;

/// The state of a run.
///
/// Commands that choose a run by themselves take a *finished* one. The user has to name any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// A process is working on it.
    Running,
    /// It ended before all of its cases ran. `None` if the number of missing cases is unknown.
    Unfinished(Option<Left>),
    /// All cases ran, and nothing was measured.
    Failed(RunFailure),
    /// All cases ran, and something was measured.
    Finished(Failures),
    /// Its report is damaged, or this version cannot read it.
    Unreadable,
}

/// The missing part of an unfinished run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Missing runs of cases.
    pub not_run: usize,
    /// Runs of cases that were planned.
    pub of: usize,
}

/// The failures of a run that measured something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Failures {
    /// Runs of cases without a result.
    pub cases: usize,
    /// Runs of cases that were planned.
    pub of: usize,
    /// Failed evaluators, over all cases.
    pub evaluators: usize,
}

impl RunFolder {
    /// The state of the run.
    pub fn state(&self) -> RunState {
        if self.is_locked() {
            return RunState::Running;
        }
        self.state_at_rest().0
    }

    /// The state that the files of the run show, and its summary if it has a report. A run that a process works on is
    /// [running](Self::is_locked) whatever its files show.
    pub fn state_at_rest(&self) -> (RunState, Option<Summary>) {
        let path = self.path().join(REPORT);
        if !path.exists() {
            return (RunState::Unfinished(self.left()), None);
        }
        match self.report_head() {
            Ok(ReportHead { summary }) => (RunState::of(&summary), Some(summary)),
            Err(_) => (RunState::Unreadable, None),
        }
    }

    /// Why the report cannot be used, if it cannot.
    pub fn report_problem(&self) -> Option<anyhow::Error> {
        self.report_head().err()
    }

    fn report_head(&self) -> Result<ReportHead> {
        let mut file = regular_file::open(&self.path().join(REPORT))?;
        self.check_report(&mut file)?;
        ReportHead::read(file)
            .with_context(|| format!("`{REPORT}` of run `{}` is damaged", self.name()))
    }

    /// The missing cases of a run without a report, if it has a journal.
    fn left(&self) -> Option<Left> {
        let of = self.read_record().ok()?.planned();
        let done = FileJournal::count(&self.journal()).ok()?;
        Some(Left {
            not_run: of.saturating_sub(done),
            of,
        })
    }

    /// Advice for a run that is not finished.
    pub fn remedy(&self) -> &'static str {
        if self.is_locked() {
            "wait for it to finish"
        } else if self.journal().exists() {
            "run the original command again to resume it"
        } else {
            "run the original command again to start over"
        }
    }
}

impl RunState {
    /// The state of a run that left a report with `summary`.
    pub fn of(summary: &Summary) -> Self {
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

    /// Whether all cases ran, successfully or not.
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Failed(_) | Self::Finished(_))
    }

    /// Whether the run is finished and neither a case nor an evaluator failed.
    pub fn has_no_failures(self) -> bool {
        matches!(self, Self::Finished(failures) if failures.cases == 0 && failures.evaluators == 0)
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
            Self::Failed(failure) => failure.fmt(formatter),
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
    use std::fs;

    use serde_json::json;

    use evals_rag::qa::Equivalence;

    use super::super::lock::IsRunning;
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
    fn a_run_is_finished_if_a_case_succeeded_and_failed_if_none_did() {
        let state = |finished, failed, not_run| RunState::of(&summary(finished, failed, not_run));
        assert_eq!(state(40, 0, 0).to_string(), "finished");
        assert_eq!(state(40, 3, 0).to_string(), "finished, 3 of 40 failed");
        assert_eq!(state(40, 40, 0), RunState::Failed(RunFailure::EveryCase));
        assert_eq!(
            state(30, 30, 10).to_string(),
            "unfinished, 10 of 40 not run",
            "the missing cases may succeed"
        );
        assert!(state(40, 0, 0).has_no_failures() && !state(40, 3, 0).has_no_failures());
        assert!(state(40, 40, 0).is_complete() && !state(30, 0, 10).is_complete());
    }

    #[test]
    fn a_run_without_a_verdict_is_failed() {
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

    #[test]
    fn a_run_whose_evaluators_returned_nothing_is_failed() {
        let state = |passed: usize| {
            let mut summary = summary(4, 0, 0);
            summary.failed_evaluators = vec!["LLMJudge".to_owned()];
            summary.evaluator_failures = 4;
            let mean = |n| evals_metrics::Mean {
                n,
                ..evals_metrics::Mean::default()
            };
            summary.scores = vec![("LLMJudge".to_owned(), mean(0))];
            summary.assertions = vec![("Equals".to_owned(), mean(passed))];
            let message = RunFailure::message(&summary).unwrap();
            assert_eq!(
                message,
                "the evaluator `LLMJudge` failed in all of its cases; see the report for the reasons"
            );
            RunState::of(&summary).to_string()
        };
        assert_eq!(state(0), "failed, no evaluator gave a value");
        assert_eq!(state(4), "finished, 4 evaluations failed");
    }

    #[test]
    fn a_run_without_a_document_of_the_corpus_is_failed() {
        let mut summary = summary(4, 0, 0);
        let reason = evals_rag::Missing::Matches.reason().to_owned();
        let mean = evals_metrics::Mean {
            excluded: [(reason, 4)].into(),
            ..evals_metrics::Mean::default()
        };
        summary.scores = vec![("R@5".to_owned(), mean)];
        assert_eq!(
            RunState::of(&summary),
            RunState::Failed(RunFailure::NoMatch)
        );
        assert_eq!(
            RunFailure::message(&summary).unwrap(),
            "no document of the target is in the corpus, so every rank measure is undefined; see the report for the reasons"
        );
    }

    #[test]
    fn a_run_is_running_while_a_process_holds_it() {
        let runs = tempfile::tempdir().unwrap();
        let time = "2026-05-01T12:00:00Z".parse().unwrap();
        let held = RunFolder::create(runs.path(), time, "going-on").unwrap();
        fs::write(held.path().join("manifest.json"), "{}").unwrap();
        let seen = RunFolder::open(held.path()).unwrap();
        assert_eq!(seen.state(), RunState::Running);
        assert_eq!(seen.lock_exclusive().err(), Some(IsRunning));
        let copy = held.clone();
        drop(held);
        assert_eq!(seen.state(), RunState::Running);
        drop(copy);
        assert_eq!(seen.state(), RunState::Unfinished(None));
        let alone = seen.lock_exclusive().unwrap();
        assert!(alone.is_some() && seen.lock_exclusive().is_err());
    }
}
