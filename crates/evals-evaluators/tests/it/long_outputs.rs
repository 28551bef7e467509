//! Long outputs are judged beside everything else, with the same results.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evals::{
    Case, CaseTimeout, Context, Dataset, Evaluator, EvaluatorSpec, Experiment, FailureKind, Report,
    SpecArguments, TaskError, TaskScope,
};
use evals_evaluators::{Built, Entry, Finding, Registry, Resources, Untyped};
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::registered::built;

/// The length of an answer that takes long to judge.
const LENGTH: usize = 1 << 20;

fn closure<R: Into<Finding> + 'static>(
    check: impl Fn(&Context<'_, Untyped>) -> R + Send + Sync + 'static,
) -> Arc<dyn Evaluator<Untyped>> {
    let registry = Registry::built_in().with(Entry::check("Mine", "Judges.", check));
    let spec = EvaluatorSpec {
        name: "Mine".to_owned(),
        arguments: SpecArguments::None,
    };
    match registry.build(&spec, &Resources::default()) {
        Ok(Built::Case(evaluator)) => evaluator,
        other => panic!("{other:?}"),
    }
}

/// Judges an output of two cases, each within `limit`.
async fn run(
    evaluator: Arc<dyn Evaluator<Untyped>>,
    output: String,
    limit: Duration,
) -> Report<Untyped> {
    let cases = ["a", "b"].map(|id| Case::new(id, Value::Null));
    let dataset = Dataset::new("long", cases).unwrap();
    let task = move |_: Arc<Case<Untyped>>, _: TaskScope| {
        let output = json!(output);
        async move { Ok::<_, TaskError>(output) }
    };
    Experiment::new(dataset.with_evaluators([evaluator]), task)
        .case_timeout(CaseTimeout::new(limit))
        .run()
        .await
}

/// The runtime has one thread, which a check that judged on it would hold for good.
#[tokio::test]
async fn the_deadline_of_a_case_holds_while_a_check_judges() {
    let (finish, finished) = channel::<()>();
    let finished = Mutex::new(finished);
    let evaluator = closure(move |_| {
        // An error, too, is the end of the test.
        let _ = finished.lock().unwrap().recv();
        true
    });
    let limit = Duration::from_millis(50);
    let report = run(evaluator, "x".repeat(LENGTH), limit).await;
    drop(finish);
    for case in &report.cases {
        let message = &case.evaluator_failures[0].message;
        assert!(
            message.starts_with("it did not finish within the 0.05 s of the case"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_check_that_panics_is_reported_the_same_for_any_length() {
    for length in [1, LENGTH] {
        let evaluator = closure(|_| -> bool { panic!("no such letter") });
        let report = run(evaluator, "x".repeat(length), Duration::from_mins(1)).await;
        let failure = &report.cases[0].evaluator_failures[0];
        assert_eq!(failure.kind, FailureKind::Panic);
        assert_eq!(failure.message, "no such letter");
    }
}

#[tokio::test]
async fn outcomes_are_the_same_on_every_thread() {
    let long = "It has 1,200 seats. ".repeat(LENGTH / 20);
    let case = Case::<Untyped>::new("case", Value::Null).expecting(json!("the 1200 seats"));
    let output = json!(long);
    let context = Context::new(&case, &output);
    for (name, arguments) in [
        ("EqualsExpected", json!({})),
        ("ExactMatch", json!({})),
        ("TokenF1", json!({})),
        ("RougeL", json!({})),
        ("NumberMatch", json!({})),
        ("Levenshtein", json!({})),
        ("Contains", json!({"value": "stairs"})),
        ("Regex", json!({"pattern": "stairs$"})),
        ("JsonSchema", json!({"schema": {"type": "object"}})),
    ] {
        let evaluator = built(name, arguments);
        let beside = evaluator.evaluate(&context).await.unwrap();
        // Without a runtime there is no other thread.
        let here = std::thread::scope(|threads| {
            let here = threads.spawn(|| block_on(evaluator.evaluate(&context)));
            here.join().unwrap().unwrap()
        });
        assert_eq!(beside, here, "{name}");
    }
}
