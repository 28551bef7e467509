//! Retries of tasks and evaluators.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use evals::{
    Case, CaseTimeout, EvaluatorError, Experiment, FailureClass, Outcome, Report, Retry,
    StopSignal, TaskError, TaskScope,
};
use tokio::time::sleep;

use crate::fakes::{Scripted, Words, numbered};

const PAUSE: Duration = Duration::from_secs(2);

fn retry(attempts: u32) -> Retry {
    Retry::new(NonZeroU32::new(attempts).unwrap()).fixed(PAUSE)
}

/// Runs one case whose first `failures` attempts at the task fail.
async fn run(failures: u32, error: fn(u32) -> TaskError, attempts: u32) -> Report<Words> {
    let calls = Arc::new(AtomicU32::new(0));
    let task = move |case: Arc<Case<Words>>, scope: TaskScope| {
        let call = calls.fetch_add(1, Ordering::Relaxed) + 1;
        async move {
            scope.add_metric("calls", 1.0);
            scope.attribute(format!("attempt {call}"), true);
            sleep(Duration::from_secs(1)).await;
            if call <= failures {
                return Err(error(call));
            }
            Ok(case.input.clone())
        }
    };
    Experiment::new(numbered(1), task)
        .retry_task(retry(attempts))
        .run()
        .await
}

fn busy(call: u32) -> TaskError {
    TaskError::new(format!("busy {call}")).classed(FailureClass::Transient)
}

#[tokio::test(start_paused = true)]
async fn a_task_runs_again_and_a_failed_attempt_leaves_nothing() {
    let started = tokio::time::Instant::now();
    let report = run(2, busy, 3).await;
    let case = &report.cases[0];
    assert!(case.result.output().is_some());
    assert_eq!(case.attempts, 3);
    assert_eq!(case.metrics.get("calls"), Some(&1.0));
    assert!(case.attributes.keys().eq(["attempt 3"]));
    assert_eq!(started.elapsed(), Duration::from_secs(3) + 2 * PAUSE);
}

#[tokio::test(start_paused = true)]
async fn the_last_failure_is_the_cases() {
    let report = run(9, busy, 3).await;
    let case = &report.cases[0];
    assert_eq!(case.result.failure().unwrap().message, "busy 3");
    assert_eq!(case.attempts, 3);
    assert!(case.attributes.keys().eq(["attempt 3"]));
}

#[tokio::test(start_paused = true)]
async fn a_terminal_failure_is_not_retried() {
    let terminal = |_| TaskError::new("wrong key").classed(FailureClass::Terminal);
    let started = tokio::time::Instant::now();
    let report = run(9, terminal, 3).await;
    assert_eq!(started.elapsed(), Duration::from_secs(1));
    assert_eq!(report.stopped.as_deref(), Some("wrong key"));
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_not_retried() {
    let task = |_: Arc<Case<Words>>, _: TaskScope| async { panic!("out of range") };
    let report = Experiment::new(numbered(1), task).retry_task(retry(3));
    let report = report.run().await;
    assert_eq!(report.cases[0].attempts, 1);
}

#[tokio::test(start_paused = true)]
async fn a_written_report_says_how_often_it_ran() {
    let once = serde_json::to_value(run(0, busy, 3).await).unwrap();
    assert!(once["cases"][0].get("attempts").is_none());
    let twice = serde_json::to_value(run(1, busy, 3).await).unwrap();
    assert_eq!(twice["cases"][0]["attempts"], 2);
    let read = |report| serde_json::from_value::<Report<Words>>(report).unwrap();
    assert_eq!(read(once).cases[0].attempts, 1);
    assert_eq!(read(twice).cases[0].attempts, 2);
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_a_case_covers_all_attempts() {
    let task = |_: Arc<Case<Words>>, _: TaskScope| async {
        sleep(Duration::from_secs(1)).await;
        Err(TaskError::new("busy"))
    };
    let started = tokio::time::Instant::now();
    let report = Experiment::new(numbered(1), task)
        .retry_task(retry(100))
        .case_timeout(CaseTimeout::new(Duration::from_secs(5)))
        .run()
        .await;
    assert_eq!(started.elapsed(), Duration::from_secs(5));
    let failure = report.cases[0].result.failure().unwrap();
    assert_eq!(
        failure.message,
        "the task did not finish within 5 s; before that: busy"
    );
    assert_eq!(report.cases[0].attempts, 2);
}

/// An evaluator whose first attempt fails beside an outcome, and one that always succeeds.
#[tokio::test(start_paused = true)]
async fn an_evaluator_runs_again_on_its_own() {
    let calls = Arc::new(AtomicU32::new(0));
    let tasks = Arc::new(AtomicU32::new(0));
    let flaky = {
        let calls = Arc::clone(&calls);
        Scripted::new("flaky", move |context| {
            let call = calls.fetch_add(1, Ordering::Relaxed) + 1;
            context.scope.add_metric("flaky calls", 1.0);
            let outcome = Outcome::score("flaky", f64::from(call));
            match call {
                1 => Err(EvaluatorError::new("busy").beside([outcome])),
                _ => Ok(vec![outcome]),
            }
        })
    };
    let steady = Scripted::new("steady", |context| {
        context.scope.add_metric("steady calls", 1.0);
        Ok(vec![Outcome::assertion("steady", true)])
    });
    let task = {
        let tasks = Arc::clone(&tasks);
        move |case: Arc<Case<Words>>, _: TaskScope| {
            tasks.fetch_add(1, Ordering::Relaxed);
            async move { Ok::<_, TaskError>(case.input.clone()) }
        }
    };
    let report = Experiment::new(numbered(1).evaluator(flaky).evaluator(steady), task)
        .retry_evaluators(retry(2))
        .run()
        .await;
    let case = &report.cases[0];
    assert!(case.evaluator_failures.is_empty());
    assert_eq!(case.score("flaky"), Some(2.0));
    assert_eq!(case.outcomes.len(), 2);
    assert_eq!(case.metrics.get("flaky calls"), Some(&1.0));
    assert_eq!(case.metrics.get("steady calls"), Some(&1.0));
    assert_eq!(tasks.load(Ordering::Relaxed), 1);
    let [retried] = case.retried_evaluators.as_slice() else {
        panic!("{:?}", case.retried_evaluators);
    };
    assert_eq!((retried.evaluator.as_str(), retried.attempts), ("flaky", 2));
}

#[tokio::test(start_paused = true)]
async fn a_stopped_run_retries_nothing() {
    let stop = StopSignal::new();
    let task = {
        let stop = stop.clone();
        move |_: Arc<Case<Words>>, _: TaskScope| {
            let stop = stop.clone();
            async move {
                stop.interrupt();
                Err(TaskError::new("busy"))
            }
        }
    };
    let report = Experiment::new(numbered(2), task)
        .concurrency(NonZeroUsize::MIN)
        .retry_task(retry(3))
        .stop(stop)
        .run()
        .await;
    assert!(report.cases.is_empty(), "the case is tried again later");
    assert_eq!(report.not_run, 2);
}
