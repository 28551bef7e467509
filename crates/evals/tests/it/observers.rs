//! Events for observers.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use evals::{Event, Experiment, Observer, TaskScope};
use tokio_util::sync::CancellationToken;

use crate::fakes::{Words, dataset};

#[derive(Default)]
struct Log {
    lines: Mutex<Vec<String>>,
    cancel_after: Option<(&'static str, CancellationToken)>,
}

impl Observer<Words> for Log {
    fn on_event(&self, event: Event<'_, Words>) {
        let line = match event {
            Event::Started { name, total, .. } => format!("started {name}: {total}"),
            Event::CaseStarted { case, repeat } => format!("case {} {repeat}", case.id),
            Event::CaseFinished { report, position } => {
                if let Some((id, token)) = &self.cancel_after
                    && report.id.as_str() == *id
                {
                    token.cancel();
                }
                format!(
                    "finished {} at {position}: {:?}",
                    report.id,
                    report.result.output()
                )
            }
            Event::Finished { not_run } => format!("over, {not_run} not run"),
            other => format!("{other:?}"),
        };
        self.lines.lock().unwrap().push(line);
    }
}

#[tokio::test]
async fn events_come_in_order_and_carry_the_finished_case() {
    let log = Arc::new(Log::default());
    let task = |case: Arc<evals::Case<Words>>, _: TaskScope| async move { Ok(case.id.to_string()) };
    let experiment = Experiment::new(dataset(["a", "b"]), task).concurrency(NonZeroUsize::MIN);
    experiment.observer(log.clone()).run().await;
    assert_eq!(
        *log.lines.lock().unwrap(),
        [
            "started words: 2",
            "case a 1",
            r#"finished a at 0: Some("a")"#,
            "case b 1",
            r#"finished b at 1: Some("b")"#,
            "over, 0 not run",
        ]
    );
}

#[tokio::test]
async fn finished_events_and_reported_cases_are_the_same() {
    let token = CancellationToken::new();
    let log = Arc::new(Log {
        cancel_after: Some(("a", token.clone())),
        ..Log::default()
    });
    let task = |case: Arc<evals::Case<Words>>, _: TaskScope| async move { Ok(case.id.to_string()) };
    let experiment = Experiment::new(dataset(["a", "b"]), task).concurrency(NonZeroUsize::MIN);
    let report = experiment
        .observer(log.clone())
        .cancellation(token)
        .run()
        .await;
    assert_eq!(report.cases.len(), 1);
    assert_eq!(
        *log.lines.lock().unwrap(),
        [
            "started words: 2",
            "case a 1",
            r#"finished a at 0: Some("a")"#,
            "over, 1 not run"
        ]
    );
}

#[tokio::test]
async fn an_observer_that_panics_gets_no_further_events() {
    struct Broken;
    impl Observer<Words> for Broken {
        fn on_event(&self, event: Event<'_, Words>) {
            assert!(!matches!(event, Event::CaseFinished { .. }), "disk full");
            assert!(!matches!(event, Event::Finished { .. }), "told once more");
        }
    }
    let log = Arc::new(Log::default());
    let task = |case: Arc<evals::Case<Words>>, _: TaskScope| async move { Ok(case.id.to_string()) };
    let report = Experiment::new(dataset(["a", "b"]), task)
        .observer(Arc::new(Broken))
        .observer(log.clone())
        .run()
        .await;
    assert_eq!(report.cases.len(), 2);
    assert_eq!(report.observer_failures, ["disk full"]);
    let lines = log.lines.lock().unwrap();
    assert_eq!(lines.last().unwrap(), "over, 0 not run");
}
