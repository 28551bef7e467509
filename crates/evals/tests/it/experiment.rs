//! Order, concurrency, repetition, cancellation and isolation of a run.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evals::{
    Case, Dataset, DatasetError, EvaluatorError, Experiment, FailureClass, FailureKind, Report,
    TaskError, TaskScope,
};
use evals_metrics::Bootstrap;
use proptest::prelude::*;
use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::fakes::{Scripted, Words, case, dataset, echo, numbered};

fn ids(report: &Report<Words>) -> Vec<String> {
    report
        .cases
        .iter()
        .map(|case| case.label(report.repeat))
        .collect()
}

fn many(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn results_are_in_dataset_order(
        delays in prop::collection::vec(0_u64..50, 0..40),
        concurrency in 1_usize..12,
    ) {
        let expected: Vec<String> = (0..delays.len()).map(|number| format!("case {number}")).collect();
        let dataset = dataset(&expected);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let report = runtime.block_on(async {
            let next = AtomicUsize::new(0);
            let task = move |case: Arc<Case<Words>>, _: TaskScope| {
                let delay = delays[next.fetch_add(1, Ordering::Relaxed)];
                async move {
                    sleep(Duration::from_millis(delay)).await;
                    Ok(case.input.clone())
                }
            };
            Experiment::new(dataset, task).concurrency(many(concurrency)).run().await
        });
        prop_assert_eq!(ids(&report), expected);
        prop_assert!(!report.interrupted);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_more_cases_run_at_once_than_allowed() {
    for limit in [1, 3, 16] {
        let running = Arc::new(AtomicUsize::new(0));
        let most = Arc::new(AtomicUsize::new(0));
        let (counter, peak) = (Arc::clone(&running), Arc::clone(&most));
        let task = move |case: Arc<Case<Words>>, _: TaskScope| {
            let (counter, peak) = (Arc::clone(&counter), Arc::clone(&peak));
            async move {
                peak.fetch_max(counter.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                sleep(Duration::from_millis(2)).await;
                counter.fetch_sub(1, Ordering::SeqCst);
                Ok(case.input.clone())
            }
        };
        let report = Experiment::new(numbered(60), task)
            .concurrency(many(limit))
            .run()
            .await;
        assert_eq!(report.cases.len(), 60);
        let most = most.load(Ordering::SeqCst);
        assert!(
            most <= limit,
            "{most} cases ran at once, {limit} were allowed"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn as_many_cases_run_at_once_as_allowed() {
    let task = |case: Arc<Case<Words>>, _: TaskScope| async move {
        sleep(Duration::from_secs(1)).await;
        Ok(case.input.clone())
    };
    let started = tokio::time::Instant::now();
    Experiment::new(numbered(10), task)
        .concurrency(many(4))
        .run()
        .await;
    // Three rounds of one second: four cases, four cases, two cases.
    assert_eq!(started.elapsed().as_secs(), 3);
}

#[tokio::test]
async fn repetitions_follow_each_other_and_carry_their_number() {
    let task = |case: Arc<Case<Words>>, scope: TaskScope| async move {
        Ok(format!("{} for the {}.", case.input, scope.repeat()))
    };
    let report = Experiment::new(dataset(["a", "b"]), task)
        .repeat(NonZeroU32::new(3).unwrap())
        .run()
        .await;
    assert_eq!(
        ids(&report),
        [
            "a [1/3]", "a [2/3]", "a [3/3]", "b [1/3]", "b [2/3]", "b [3/3]"
        ]
    );
    assert_eq!(report.cases[4].id.as_str(), "b");
    assert_eq!(report.cases[4].repeat, 2);
    let output = report.cases[4].result.output().map(String::as_str);
    assert_eq!(output, Some("input of b for the 2."));
}

#[tokio::test]
async fn time_that_a_task_leaves_out_is_not_in_its_duration() {
    let task = |case: Arc<Case<Words>>, scope: TaskScope| async move {
        scope.leave_out(Duration::from_millis(300));
        scope.leave_out(Duration::from_millis(200));
        sleep(Duration::from_millis(510)).await;
        Ok(case.input.clone())
    };
    let report = Experiment::new(numbered(1), task).run().await;
    let duration = report.cases[0].duration;
    assert!(!duration.is_zero(), "{duration:?}");
    assert!(duration < Duration::from_millis(500), "{duration:?}");
}

#[tokio::test]
async fn the_time_that_a_task_names_is_its_duration() {
    let task = |case: Arc<Case<Words>>, scope: TaskScope| async move {
        scope.took(Duration::from_secs(70));
        scope.took(Duration::from_mins(1));
        scope.leave_out(Duration::from_secs(5));
        Ok(case.input.clone())
    };
    let report = Experiment::new(numbered(1), task).run().await;
    assert_eq!(report.cases[0].duration, Duration::from_mins(1));
}

#[tokio::test]
async fn an_experiment_has_the_name_of_its_dataset_by_default() {
    let report = echo(dataset(["a"])).await;
    assert_eq!(
        (report.name.as_str(), report.dataset.as_str()),
        ("words", "words")
    );
    assert_eq!(ids(&report), ["a"]);

    let task = |case: Arc<Case<Words>>, _: TaskScope| async move { Ok(case.input.clone()) };
    let report = Experiment::new(dataset(["a"]), task)
        .name("bm25")
        .metadata("seed", 7)
        .run()
        .await;
    assert_eq!(
        (report.name.as_str(), report.dataset.as_str()),
        ("bm25", "words")
    );
    assert_eq!(report.metadata["seed"], 7);
}

#[tokio::test]
async fn an_empty_dataset_gives_an_empty_report() {
    let report = echo(numbered(0)).await;
    assert!(report.cases.is_empty());
    assert!(!report.interrupted);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_keeps_finished_cases_and_counts_the_rest() {
    let cancellation = CancellationToken::new();
    let started = Arc::new(AtomicUsize::new(0));
    let (token, counter) = (cancellation.clone(), Arc::clone(&started));
    let task = move |case: Arc<Case<Words>>, _: TaskScope| {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        let token = token.clone();
        async move {
            match number {
                0..=3 => Ok(case.input.clone()),
                4 => {
                    sleep(Duration::from_secs(1)).await;
                    token.cancel();
                    // The case is dropped at this await.
                    std::future::pending().await
                }
                _ => {
                    sleep(Duration::from_hours(1)).await;
                    Ok(case.input.clone())
                }
            }
        }
    };
    let experiment = Experiment::new(numbered(20), task)
        .concurrency(many(3))
        .cancellation(cancellation);
    let before = tokio::time::Instant::now();
    let report = experiment.run().await;

    assert_eq!(ids(&report), ["case 0", "case 1", "case 2", "case 3"]);
    assert!(report.interrupted);
    assert_eq!(report.not_run, 16);
    assert_eq!(
        started.load(Ordering::SeqCst),
        7,
        "no case is started after the cancellation"
    );
    assert_eq!(
        before.elapsed(),
        Duration::from_secs(1),
        "running cases are not waited for"
    );
}

#[tokio::test]
async fn a_run_that_is_cancelled_before_it_starts_runs_nothing() {
    let cancellation = CancellationToken::new();
    cancellation.cancel();
    let task = |_: Arc<Case<Words>>, _: TaskScope| async move { panic!("must not run") };
    let report: Report<Words> = Experiment::new(numbered(5), task)
        .cancellation(cancellation)
        .run()
        .await;
    assert_eq!(
        (report.cases.len(), report.not_run, report.interrupted),
        (0, 5, true)
    );
}

#[tokio::test]
async fn cases_that_never_wait_do_not_block_a_cancellation() {
    let cancellation = CancellationToken::new();
    let first = Arc::new(Notify::new());
    let canceller = tokio::spawn({
        let (token, first) = (cancellation.clone(), Arc::clone(&first));
        async move {
            first.notified().await;
            token.cancel();
        }
    });
    // On a single thread, the canceller runs only if the workers yield.
    let task = move |case: Arc<Case<Words>>, _: TaskScope| {
        first.notify_one();
        async move { Ok(case.input.clone()) }
    };
    let report = Experiment::new(numbered(20_000), task)
        .cancellation(cancellation)
        .run()
        .await;
    canceller.await.unwrap();
    assert!(report.interrupted, "all cases ran");
    assert!(!report.cases.is_empty());
}

#[tokio::test]
async fn an_error_fails_its_case_and_no_other() {
    #[derive(Debug, thiserror::Error)]
    #[error("could not search")]
    struct SearchError(#[source] std::num::ParseIntError);

    let task = |case: Arc<Case<Words>>, scope: TaskScope| async move {
        scope.timing("embed", Duration::from_millis(3));
        if case.id.as_str() == "b" {
            "x".parse::<u8>().map_err(SearchError)?;
        }
        Ok(case.input.clone())
    };
    let dataset = dataset(["a", "b", "c"])
        .evaluator(Scripted::constant("e", evals::Outcome::score("e", 1.0)));
    let report = Experiment::new(dataset, task).run().await;

    let failure = report.cases[1].result.failure().unwrap();
    assert_eq!(failure.kind, FailureKind::Error);
    assert_eq!(
        failure.message,
        "could not search: invalid digit found in string"
    );
    assert!(report.cases[1].outcomes.is_empty());
    assert_eq!(
        report.cases[1].timings[0].stage, "embed",
        "what was recorded before the failure stays"
    );
    assert_eq!(report.cases[0].score("e"), Some(1.0));
    assert_eq!(report.cases[2].result.output().unwrap(), "input of c");
}

#[tokio::test]
async fn a_panic_fails_its_case_and_no_other() {
    let task = |case: Arc<Case<Words>>, _: TaskScope| {
        assert!(case.id.as_str() != "a", "before the future");
        async move {
            assert!(case.id.as_str() != "b", "inside the future of {}", case.id);
            Ok::<_, TaskError>(case.input.clone())
        }
    };
    let report = Experiment::new(dataset(["a", "b", "c"]), task)
        .concurrency(many(1))
        .run()
        .await;
    let messages: Vec<_> = report
        .cases
        .iter()
        .filter_map(|case| case.result.failure())
        .collect();
    assert!(
        messages
            .iter()
            .all(|failure| failure.kind == FailureKind::Panic)
    );
    assert_eq!(messages[0].message, "before the future");
    assert_eq!(messages[1].message, "inside the future of b");
    assert_eq!(report.cases[2].result.output().unwrap(), "input of c");
}

#[tokio::test]
async fn a_metric_that_is_not_finite_is_dropped_and_named() {
    let task = |case: Arc<Case<Words>>, scope: TaskScope| async move {
        scope.metric("tokens", 12.0);
        scope.metric("cost", f64::NAN);
        scope.add_metric("cost", 1.0);
        scope.metric("rate", f64::INFINITY);
        scope.metric("rate", 0.5);
        scope.attribute("model", "m1");
        Ok(case.input.clone())
    };
    let report = Experiment::new(dataset(["a"]), task).run().await;
    let case = &report.cases[0];
    assert_eq!(case.result.output().unwrap(), "input of a");
    assert_eq!(
        case.metrics,
        BTreeMap::from([("rate".to_owned(), 0.5), ("tokens".to_owned(), 12.0)])
    );
    assert_eq!(
        case.undefined_metrics,
        BTreeMap::from([("cost".to_owned(), "not finite: NaN".to_owned())])
    );
    assert_eq!(case.attributes["model"], "m1");
    let (name, cost) = &report.summary(&Bootstrap::default()).metrics[0];
    assert_eq!((name.as_str(), cost.value), ("cost", None));
    assert_eq!(cost.excluded["not finite: NaN"], 1);
}

#[tokio::test]
async fn a_failure_keeps_the_class_of_its_error() {
    let task = |case: Arc<Case<Words>>, _: TaskScope| async move {
        let error = TaskError::new("unreadable");
        match case.id.as_str() {
            "a" => Err(error.classed(FailureClass::Content)),
            "b" => Err(error),
            _ => Ok(case.input.clone()),
        }
    };
    let dataset = dataset(["a", "b", "c"]).evaluator(Scripted::new("judge", |_| {
        Err(EvaluatorError::new("timeout").classed(FailureClass::Transient))
    }));
    let report = Experiment::new(dataset, task).run().await;
    let classes: Vec<_> = report
        .cases
        .iter()
        .map(|case| case.result.failure().and_then(|failure| failure.class))
        .collect();
    assert_eq!(classes, [Some(FailureClass::Content), None, None]);
    let [judge] = &report.cases[2].evaluator_failures[..] else {
        panic!("{:?}", report.cases[2].evaluator_failures);
    };
    assert_eq!(judge.class, Some(FailureClass::Transient));
    let json = serde_json::to_value(&report.cases[0].result).unwrap();
    assert_eq!(json["failure"]["class"], "content");
    let json = serde_json::to_value(&report.cases[1].result).unwrap();
    assert_eq!(json["failure"].get("class"), None);
}

#[test]
fn cases_with_equal_ids_are_refused() {
    let error = Dataset::new("words", ["b", "a", "b", "c", "a", "b"].map(case)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "dataset `words` has more than one case with id `a`, `b`"
    );
    let DatasetError::DuplicateIds { ids, .. } = error else {
        panic!("another error: {error}");
    };
    assert_eq!(ids.len(), 2);
}

#[tokio::test]
async fn the_cases_of_a_sequence_run_after_one_another_and_sequences_side_by_side() {
    let names = ["a1", "b1", "a2", "alone", "b2", "a3"];
    let cases = names.map(|name| Case::new(name, name.to_owned()));
    let dataset = Dataset::<Words>::new("sample", cases).unwrap();
    let dataset = dataset.in_sequences(|id| {
        let first = id.as_str().chars().next()?;
        (id.as_str() != "alone").then(|| first.to_string())
    });
    let running = Arc::new(Mutex::new((Vec::new(), Vec::<String>::new(), 0)));
    let log = Arc::clone(&running);
    let report = Experiment::new(dataset, move |case: Arc<Case<Words>>, scope| {
        let log = Arc::clone(&log);
        async move {
            let of = |name: &str| format!("{}{}", &name[..1], scope.repeat());
            let sequence = (case.input != "alone").then(|| of(&case.input));
            {
                let (now, started, most) = &mut *log.lock().unwrap();
                assert!(sequence.iter().all(|it| !now.contains(it)), "{started:?}");
                now.extend(sequence.clone());
                *most = now.len().max(*most);
                started.push(format!("{}#{}", case.input, scope.repeat()));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            log.lock()
                .unwrap()
                .0
                .retain(|it| Some(it) != sequence.as_ref());
            Ok(case.input.clone())
        }
    })
    .repeat(NonZeroU32::new(2).unwrap())
    .concurrency(NonZeroUsize::new(4).unwrap())
    .run()
    .await;
    let (_, started, most) = &*running.lock().unwrap();
    assert_eq!((started.len(), *most), (12, 4), "{started:?}");
    let place = |name: &str| started.iter().position(|it| it == name).unwrap();
    for repeat in ["#1", "#2"] {
        let places = ["a1", "a2", "a3"].map(|name| place(&format!("{name}{repeat}")));
        assert!(places.is_sorted(), "{started:?}");
    }
    let ids: Vec<&str> = report.cases.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, names.map(|name| [name; 2]).concat());
}
