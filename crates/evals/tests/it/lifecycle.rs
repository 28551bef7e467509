//! Hooks around each run of a case.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use evals::{
    Case, CaseReport, CaseTimeout, Experiment, FailureKind, Lifecycle, Outcome, Prepared, Report,
    Retry, TaskError, TaskScope,
};
use tokio_util::sync::CancellationToken;

use crate::fakes::{Scripted, Words, dataset};

/// The events of a run, in order.
#[derive(Clone, Debug, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn add(&self, entry: impl Into<String>) {
        self.0.lock().unwrap().push(entry.into());
    }

    fn entries(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// The hook that misbehaves.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    Setup,
    Prepare,
    PreparePanics,
    Teardown,
    TeardownHangs,
}

struct Hooks {
    diary: Diary,
    fault: Fault,
    case: String,
}

#[async_trait]
impl Lifecycle<Words> for Hooks {
    async fn setup(&mut self, case: &Case<Words>) -> Result<(), TaskError> {
        self.case = case.id.to_string();
        self.diary.add(format!("setup {}", self.case));
        match self.fault {
            Fault::Setup => Err(TaskError::new("no database")),
            _ => Ok(()),
        }
    }

    async fn prepare_context(
        &mut self,
        prepared: &mut Prepared<'_, Words>,
    ) -> Result<(), TaskError> {
        self.diary.add(format!("prepare {}", self.case));
        match self.fault {
            Fault::Prepare => return Err(TaskError::new("no rows")),
            Fault::PreparePanics => panic!("out of range"),
            _ => {}
        }
        prepared.output.push_str(", prepared");
        prepared.recording.metrics.insert("rows".to_owned(), 3.0);
        let metrics = &mut prepared.recording.metrics;
        metrics.insert("share".to_owned(), f64::NAN);
        Ok(())
    }

    async fn teardown(&mut self, report: Option<&CaseReport<Words>>) -> Result<(), TaskError> {
        let end = match report {
            None => "not run".to_owned(),
            Some(report) => match report.result.failure() {
                Some(failure) => failure.message.clone(),
                None => format!("{} outcomes", report.outcomes.len()),
            },
        };
        self.diary.add(format!("teardown {}: {end}", self.case));
        match self.fault {
            Fault::Teardown => Err(TaskError::new("still open")),
            Fault::TeardownHangs => std::future::pending().await,
            _ => Ok(()),
        }
    }
}

async fn run(fault: Fault) -> (Report<Words>, Vec<String>) {
    let diary = Diary::default();
    let ends_well = Scripted::new("end", |context| {
        assert_eq!(context.recording.metrics.get("rows"), Some(&3.0));
        Ok(vec![Outcome::label("end", context.output.clone())])
    });
    let task = {
        let diary = diary.clone();
        move |case: Arc<Case<Words>>, _: TaskScope| {
            diary.add(format!("task {}", case.id));
            async move { Ok::<_, TaskError>(case.id.to_string()) }
        }
    };
    let hooks = diary.clone();
    let report = Experiment::new(dataset(["a"]).evaluator(ends_well), task)
        .case_timeout(CaseTimeout::new(Duration::from_secs(5)))
        .lifecycle(move |_| Hooks {
            diary: hooks.clone(),
            fault,
            case: String::new(),
        })
        .run()
        .await;
    (report, diary.entries())
}

#[tokio::test]
async fn hooks_run_around_the_task_and_its_evaluators() {
    let (report, diary) = run(Fault::None).await;
    let expected = ["setup a", "task a", "prepare a", "teardown a: 1 outcomes"];
    assert_eq!(diary, expected);
    let case = &report.cases[0];
    assert_eq!(case.result.output().unwrap(), "a, prepared");
    assert_eq!(case.metrics.get("rows"), Some(&3.0));
    assert_eq!(case.undefined_metrics["share"], "not finite: NaN");
    assert!(case.teardown_failure.is_none());
}

#[tokio::test]
async fn a_failed_setup_fails_the_case_without_its_task() {
    let (report, diary) = run(Fault::Setup).await;
    assert_eq!(diary, ["setup a", "teardown a: no database"]);
    assert_eq!(report.cases[0].attempts, 0);
}

#[tokio::test]
async fn a_failed_preparation_fails_the_case_without_its_evaluators() {
    let (report, diary) = run(Fault::Prepare).await;
    assert_eq!(diary.last().unwrap(), "teardown a: no rows");
    assert!(report.cases[0].outcomes.is_empty());
    let (report, diary) = run(Fault::PreparePanics).await;
    assert_eq!(diary.last().unwrap(), "teardown a: out of range");
    let failure = report.cases[0].result.failure().unwrap();
    assert_eq!(failure.kind, FailureKind::Panic);
}

#[tokio::test(start_paused = true)]
async fn a_failed_teardown_is_data_and_the_case_stays() {
    for (fault, message) in [
        (Fault::Teardown, "still open"),
        (
            Fault::TeardownHangs,
            "the teardown of the case did not finish within 5 s",
        ),
    ] {
        let (report, _) = run(fault).await;
        let case = &report.cases[0];
        assert!(case.result.output().is_some());
        assert_eq!(case.teardown_failure.as_ref().unwrap().message, message);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_case_is_torn_down() {
    let diary = Diary::default();
    let cancellation = CancellationToken::new();
    let task = {
        let cancellation = cancellation.clone();
        move |_: Arc<Case<Words>>, _: TaskScope| {
            let cancellation = cancellation.clone();
            async move {
                cancellation.cancel();
                std::future::pending::<Result<String, TaskError>>().await
            }
        }
    };
    let hooks = diary.clone();
    let report = Experiment::new(dataset(["a", "b"]), task)
        .concurrency(NonZeroUsize::MIN)
        .cancellation(cancellation)
        .lifecycle(move |_| Hooks {
            diary: hooks.clone(),
            fault: Fault::None,
            case: String::new(),
        })
        .run()
        .await;
    assert_eq!(report.not_run, 2);
    assert_eq!(diary.entries(), ["setup a", "teardown a: not run"]);
}

/// Counts the hooks that were made.
struct Counted;

impl Lifecycle<Words> for Counted {}

#[tokio::test(start_paused = true)]
async fn each_repetition_has_hooks_of_its_own_and_attempts_share_them() {
    let made = Arc::new(AtomicU32::new(0));
    let task = |_: Arc<Case<Words>>, _: TaskScope| async { Err(TaskError::new("busy")) };
    let count = Arc::clone(&made);
    Experiment::new(dataset(["a", "b"]), task)
        .repeat(NonZeroU32::new(2).unwrap())
        .retry_task(Retry::new(NonZeroU32::new(3).unwrap()))
        .lifecycle(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            Counted
        })
        .run()
        .await;
    assert_eq!(made.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn a_factory_that_panics_fails_its_case() {
    let task = |case: Arc<Case<Words>>, _: TaskScope| async move {
        Ok::<_, TaskError>(case.input.clone())
    };
    let report = Experiment::new(dataset(["a", "b"]), task)
        .lifecycle(|case| match case.id.as_str() {
            "a" => panic!("no such fixture"),
            _ => Counted,
        })
        .run()
        .await;
    let failure = report.cases[0].result.failure().unwrap();
    assert_eq!(failure.message, "no such fixture");
    assert!(report.cases[1].result.output().is_some());
}
