//! Time limits of cases.

use std::sync::Arc;
use std::time::Duration;

use evals::{Case, CaseTimeout, Experiment, FailureClass, Outcome, Report, TaskError, TaskScope};
use tokio::time::sleep;

use crate::fakes::{Scripted, Words, numbered};

const LIMIT: Duration = Duration::from_secs(10);

fn outcome() -> Outcome {
    Outcome::assertion("right", true)
}

/// Runs one case with a limit of 10 seconds. `task` and `evaluator` are the seconds that they take.
async fn run(task: u64, evaluator: u64) -> Report<Words> {
    let dataset = numbered(1)
        .evaluator(Scripted::constant("quick", outcome()))
        .evaluator(Scripted::constant("slow", outcome()).after(Duration::from_secs(evaluator)));
    let task = move |case: Arc<Case<Words>>, _: TaskScope| async move {
        sleep(Duration::from_secs(task)).await;
        Ok::<_, TaskError>(case.input.clone())
    };
    let timeout = CaseTimeout::new(LIMIT).task("answering").setting("limit");
    Experiment::new(dataset, task)
        .case_timeout(timeout)
        .run()
        .await
}

#[tokio::test(start_paused = true)]
async fn a_task_that_takes_too_long_fails_and_says_so() {
    let started = tokio::time::Instant::now();
    let report = run(11, 0).await;
    assert_eq!(started.elapsed(), LIMIT);
    let failure = report.cases[0].result.failure().unwrap();
    assert_eq!(failure.class, Some(FailureClass::Transient));
    assert_eq!(
        failure.message,
        "answering did not finish within 10 s; `limit` sets how long a case may take"
    );
}

/// A request inside the task that ends at a deadline of its own, the same moment as the case's.
#[tokio::test(start_paused = true)]
async fn a_task_that_notices_the_end_of_its_time_first_is_reported_the_same() {
    let task = |_: Arc<Case<Words>>, _: TaskScope| async {
        sleep(LIMIT).await;
        Err(TaskError::new("the server gave no answer").classed(FailureClass::Transient))
    };
    let timeout = CaseTimeout::new(LIMIT).task("answering").setting("limit");
    let report = Experiment::new(numbered(1), task)
        .case_timeout(timeout)
        .run()
        .await;
    assert_eq!(
        report.cases[0].result.failure().unwrap().message,
        "answering did not finish within 10 s; `limit` sets how long a case may take"
    );
}

#[tokio::test(start_paused = true)]
async fn evaluators_get_the_time_that_the_task_left() {
    let started = tokio::time::Instant::now();
    let report = run(6, 5).await;
    assert_eq!(started.elapsed(), LIMIT);
    let case = &report.cases[0];
    assert!(case.result.output().is_some(), "the task was in time");
    let names: Vec<&str> = case
        .outcomes
        .iter()
        .map(|it| it.evaluator.as_str())
        .collect();
    assert_eq!(names, ["quick"], "what was said in time stays");
    let [failure] = case.evaluator_failures.as_slice() else {
        panic!("{:?}", case.evaluator_failures)
    };
    assert_eq!(failure.evaluator, "slow");
    assert_eq!(failure.class, Some(FailureClass::Transient));
    let message = &failure.message;
    assert!(
        message
            .starts_with("it did not finish within the 10 s of the case, of which answering took "),
        "{message}"
    );
    assert!(
        message.ends_with(" s; `limit` sets how long a case may take"),
        "{message}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_case_within_the_limit_is_unaffected() {
    let report = run(6, 3).await;
    assert_eq!(report.cases[0].outcomes.len(), 2);
    assert!(report.cases[0].evaluator_failures.is_empty());
}
