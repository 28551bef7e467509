//! Ending a run early while its running cases finish.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use evals::{
    Case, Dataset, EvaluatorError, Experiment, FailureClass, Report, StopSignal, TaskError,
    TaskScope,
};
use tokio::time::sleep;

use crate::fakes::{Scripted, Words, numbered};

/// Runs three cases at once, each for as many seconds as its number, until the task of one fails.
async fn run_until(failing: &'static str, class: FailureClass, stop: StopSignal) -> Report<Words> {
    let task = move |case: Arc<Case<Words>>, _: TaskScope| async move {
        let seconds = case.id.as_str().trim_start_matches("case ").parse()?;
        sleep(Duration::from_secs(seconds)).await;
        if case.id.as_str() == failing {
            return Err(TaskError::new("no such key").classed(class));
        }
        Ok(case.input.clone())
    };
    with_concurrency(numbered(9), task, 3)
        .stop(stop)
        .run()
        .await
}

fn with_concurrency<T, F>(
    dataset: Dataset<Words>,
    task: T,
    concurrency: usize,
) -> Experiment<Words, T>
where
    T: Fn(Arc<Case<Words>>, TaskScope) -> F,
    F: Future<Output = Result<String, TaskError>>,
{
    Experiment::new(dataset, task).concurrency(NonZeroUsize::new(concurrency).unwrap())
}

fn ids(report: &Report<Words>) -> Vec<&str> {
    report.cases.iter().map(|case| case.id.as_str()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_terminal_failure_starts_no_case_and_keeps_running_ones() {
    // Case 0 ends at once and case 3 starts; cases 2 and 3 run when case 1 fails.
    let stop = StopSignal::new();
    let report = run_until("case 1", FailureClass::Terminal, stop.clone()).await;
    assert_eq!(ids(&report), ["case 0", "case 2", "case 3"]);
    assert_eq!(report.stopped.as_deref(), Some("no such key"));
    assert_eq!((report.interrupted, report.not_run), (true, 6));
    assert_eq!(stop.reason().as_deref(), Some("no such key"));
}

#[tokio::test(start_paused = true)]
async fn other_failures_stop_nothing() {
    for class in [FailureClass::Transient, FailureClass::Content] {
        let report = run_until("case 1", class, StopSignal::new()).await;
        assert_eq!((report.cases.len(), report.not_run), (9, 0));
        assert_eq!(report.stopped, None);
    }
}

#[tokio::test]
async fn a_terminal_failure_of_an_evaluator_leaves_its_case_to_the_next_run() {
    let dataset = numbered(5)
        .evaluator(Scripted::new("other", |_| {
            Err(EvaluatorError::new("unreadable").classed(FailureClass::Content))
        }))
        .evaluator(Scripted::new("judge", |context| {
            if context.case.id.as_str() == "case 2" {
                let error = EvaluatorError::new("quota exhausted");
                return Err(error.classed(FailureClass::Terminal));
            }
            Ok(vec![])
        }));
    let task = |case: Arc<Case<Words>>, _: TaskScope| async move { Ok(case.input.clone()) };
    let report = with_concurrency(dataset, task, 1).run().await;
    assert_eq!(ids(&report), ["case 0", "case 1"]);
    assert_eq!(report.stopped.as_deref(), Some("quota exhausted"));
    assert_eq!(report.not_run, 3);
}

#[tokio::test]
async fn a_run_is_stopped_from_outside_with_the_first_reason() {
    let stop = StopSignal::new();
    let signal = stop.clone();
    let task = move |case: Arc<Case<Words>>, _: TaskScope| {
        let signal = signal.clone();
        async move {
            if case.id.as_str() == "case 1" {
                signal.stop("budget reached");
                signal.stop("too late");
            }
            Ok(case.input.clone())
        }
    };
    let report = with_concurrency(numbered(3), task, 1)
        .stop(stop)
        .run()
        .await;
    assert_eq!(ids(&report), ["case 0", "case 1"]);
    assert_eq!(report.stopped.as_deref(), Some("budget reached"));
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_run_starts_no_case_and_gives_no_reason() {
    // Case 0 ends at once and case 3 starts. Case 1 fails after the interruption.
    let stop = StopSignal::new();
    let signal = stop.clone();
    tokio::spawn(async move {
        sleep(Duration::from_millis(500)).await;
        signal.interrupt();
    });
    let report = run_until("case 1", FailureClass::Terminal, stop.clone()).await;
    assert_eq!(ids(&report), ["case 0", "case 2", "case 3"]);
    assert_eq!(report.stopped, None);
    assert_eq!((report.interrupted, report.not_run), (true, 6));
    assert!(stop.is_set());
}

#[tokio::test]
async fn a_stop_after_the_last_case_is_not_an_interruption() {
    let stop = StopSignal::new();
    let signal = stop.clone();
    let task = move |case: Arc<Case<Words>>, _: TaskScope| {
        signal.stop("budget reached");
        async move { Ok(case.input.clone()) }
    };
    let report = with_concurrency(numbered(1), task, 1)
        .stop(stop)
        .run()
        .await;
    assert_eq!((report.stopped, report.interrupted), (None, false));
    assert_eq!(report.cases.len(), 1);
}

/// Runs ten cases, one at a time, whose odd ones fail.
async fn with_limit(most: usize, resumed: Vec<evals::CaseReport<Words>>) -> evals::Report<Words> {
    let task = |case: Arc<Case<Words>>, _: TaskScope| async move {
        let number: usize = case.id.as_str()["case ".len()..].parse().unwrap();
        if number % 2 == 1 {
            return Err(TaskError::new("odd"));
        }
        Ok(case.input.clone())
    };
    let judge = Scripted::new("judge", |_| Err(EvaluatorError::new("down")));
    Experiment::new(numbered(10).evaluator(judge), task)
        .concurrency(NonZeroUsize::MIN)
        .max_failures(NonZeroUsize::new(most).unwrap())
        .resume(resumed)
        .run()
        .await
}

#[tokio::test]
async fn a_run_stops_at_the_limit_of_failed_cases_and_resumes() {
    let report = with_limit(2, Vec::new()).await;
    assert_eq!(report.cases.len(), 4, "failed evaluators do not count");
    assert_eq!(report.not_run, 6);
    let stopped = report.stopped.as_deref();
    assert_eq!(stopped, Some("2 cases failed, which is the limit"));

    let report = with_limit(2, report.cases).await;
    assert_eq!(report.cases.len(), 8, "earlier failures do not count");
    let report = with_limit(2, report.cases).await;
    assert_eq!((report.cases.len(), report.not_run), (10, 0));
    assert_eq!(report.stopped, None);
}
