//! Names of evaluators and outcomes, which are unique within a run.

use super::{judged, names};
use crate::fakes::{Scripted, Words, case, dataset, echo};
use async_trait::async_trait;
use evals::{
    Context, Dataset, Evaluator, EvaluatorError, EvaluatorIdentity, EvaluatorOrigin, EvaluatorSpec,
    FailureKind, Outcome, SpecArguments, Value,
};
use evals_metrics::Bootstrap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// pydantic-evals 2.62.0 names a label, a score and an assertion of one name `k`, `k_2` and `k_3`.
#[tokio::test]
async fn equal_names_of_different_kinds_are_numbered() {
    let dataset = dataset(["a"])
        .evaluator(Scripted::constant("one", Outcome::label("k", "x")))
        .evaluator(Scripted::constant("two", Outcome::score("k", 0.5)))
        .evaluator(Scripted::constant("three", Outcome::assertion("k", true)));
    let report = judged(dataset).await;
    let outcomes: Vec<_> = report
        .outcomes
        .iter()
        .map(|outcome| {
            (
                outcome.name.as_str(),
                outcome.evaluator.as_str(),
                &outcome.value,
            )
        })
        .collect();
    assert_eq!(
        outcomes,
        [
            ("k", "one", &Value::Label("x".to_owned())),
            ("k_2", "two", &Value::Score(0.5)),
            ("k_3", "three", &Value::Assertion(true)),
        ]
    );
}

#[tokio::test]
async fn a_taken_number_is_skipped() {
    let dataset = dataset(["a"])
        .evaluator(Scripted::constant("one", Outcome::score("k_2", 1.0)))
        .evaluator(Scripted::constant("two", Outcome::score("k", 2.0)))
        .evaluator(Scripted::constant("three", Outcome::score("k", 3.0)));
    let report = judged(dataset).await;
    assert_eq!(names(&report), ["k_2", "k", "k_3"]);
}

#[tokio::test]
async fn a_failed_evaluator_keeps_its_claim_to_a_name() {
    let dataset = dataset(["a"])
        .evaluator(Scripted::new("Contains", |_| {
            Err(EvaluatorError::new("no such field"))
        }))
        .evaluator(Scripted::constant(
            "Contains",
            Outcome::assertion("Contains", true),
        ));
    let report = judged(dataset).await;
    assert_eq!(names(&report), ["Contains_2"]);
}

/// Scores `accurate`, but fails on the cases of these ids.
fn judge(name: &'static str, value: f64, fails_on: &'static [&str]) -> Scripted {
    Scripted::new(name, move |context| {
        if fails_on.contains(&context.case.id.as_str()) {
            return Err(EvaluatorError::new("timeout"));
        }
        Ok(vec![Outcome::score("accurate", value)])
    })
}

#[tokio::test]
async fn a_name_belongs_to_one_evaluator_in_all_cases() {
    let dataset = dataset(["a", "b", "c"])
        .evaluator(judge("judge-a", 1.0, &["a"]))
        .evaluator(judge("judge-b", 0.0, &["b"]));
    let report = echo(dataset).await;
    assert_eq!(names(&report.cases[0]), ["accurate_2"]);
    assert_eq!(names(&report.cases[1]), ["accurate"]);
    assert_eq!(names(&report.cases[2]), ["accurate", "accurate_2"]);

    let summary = report.summary(&Bootstrap::default());
    let means: Vec<_> = summary
        .scores
        .iter()
        .map(|(name, mean)| {
            (
                name.as_str(),
                mean.value,
                mean.n,
                &mean.excluded["evaluator failed"],
            )
        })
        .collect();
    assert_eq!(
        means,
        [
            ("accurate_2", Some(0.0), 2, &1),
            ("accurate", Some(1.0), 2, &1)
        ]
    );
}

#[tokio::test]
async fn two_evaluators_with_one_name_stay_separate() {
    let dataset = dataset(["a", "b"])
        .evaluator(judge("judge", 1.0, &["a"]))
        .evaluator(judge("judge", 0.0, &[]));
    let report = echo(dataset).await;
    assert_eq!(names(&report.cases[0]), ["accurate_2"]);
    let origins: Vec<_> = report.cases[1]
        .outcomes
        .iter()
        .map(|outcome| outcome.origin)
        .collect();
    assert_eq!(
        origins,
        [EvaluatorOrigin::Dataset(1), EvaluatorOrigin::Dataset(2)]
    );
    assert_eq!(
        report.cases[0].evaluator_failures[0].origin,
        EvaluatorOrigin::Dataset(1)
    );
}

#[tokio::test]
async fn own_evaluators_are_not_mixed_up_with_the_datasets() {
    let own = || Scripted::constant("exact", Outcome::assertion("exact", true));
    let cases = [
        case("a").evaluator(own()).evaluator(own()),
        case("b"),
        case("c").evaluator(own()),
    ];
    let shared = Scripted::constant("exact", Outcome::assertion("exact", false));
    let report = echo(Dataset::new("words", cases).unwrap().evaluator(shared)).await;
    assert_eq!(names(&report.cases[0]), ["exact_2", "exact_3", "exact"]);
    assert_eq!(names(&report.cases[1]), ["exact"]);
    assert_eq!(names(&report.cases[2]), ["exact_2", "exact"]);
    let exact = || EvaluatorIdentity::named("exact");
    assert_eq!(report.cases[0].own_evaluators, [exact(), exact()]);

    let summary = report.summary(&Bootstrap::default());
    let rates: Vec<_> = summary
        .assertions
        .iter()
        .map(|(name, mean)| (name.as_str(), mean.value, mean.n))
        .collect();
    assert_eq!(
        rates,
        [
            ("exact_2", Some(1.0), 2),
            ("exact_3", Some(1.0), 1),
            ("exact", Some(0.0), 3)
        ]
    );
}

#[tokio::test]
async fn a_dropped_score_keeps_its_number() {
    let dataset = dataset(["a"]).evaluator(Scripted::new("twice", |_| {
        Ok(vec![
            Outcome::score("x", f64::NAN),
            Outcome::score("x", 0.5),
        ])
    }));
    assert_eq!(names(&judged(dataset).await), ["x_2"]);
}

/// An evaluator whose `name` calls a closure.
#[derive(Debug)]
struct Named<F>(F);

#[async_trait]
impl<F: Fn() -> &'static str + fmt::Debug + Send + Sync> Evaluator<Words> for Named<F> {
    fn name(&self) -> &str {
        (self.0)()
    }

    async fn evaluate(&self, _: &Context<'_, Words>) -> Result<Vec<Outcome>, EvaluatorError> {
        Ok(vec![Outcome::score("named", 1.0)])
    }
}

fn no_name() -> &'static str {
    panic!("no name was set")
}

#[tokio::test]
async fn an_evaluator_whose_name_panics_fails_alone() {
    let nameless = Named(no_name as fn() -> &'static str);
    let cases = [
        case("a").evaluator(Named(no_name as fn() -> &'static str)),
        case("b"),
    ];
    let dataset = Dataset::new("words", cases)
        .unwrap()
        .evaluator(nameless)
        .evaluator(Scripted::constant("fine", Outcome::score("fine", 1.0)));
    let report = echo(dataset).await;
    for (case, failed) in report.cases.iter().zip([2, 1]) {
        assert_eq!(names(case), ["fine"]);
        assert_eq!(case.evaluator_failures.len(), failed);
        for failure in &case.evaluator_failures {
            assert_eq!(failure.evaluator, "evaluator without a name");
            assert_eq!(failure.kind, FailureKind::Panic);
            assert_eq!(failure.message, "asked for its name: no name was set");
        }
    }
}

#[tokio::test]
async fn a_name_that_changes_is_read_once() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    fn changing() -> &'static str {
        ["first", "second", "third"][CALLS.fetch_add(1, Ordering::Relaxed)]
    }
    let report = echo(dataset(["a", "b"]).evaluator(Named(changing as fn() -> &'static str))).await;
    let evaluators = report
        .cases
        .iter()
        .map(|case| case.outcomes[0].evaluator.as_str());
    assert_eq!(evaluators.collect::<Vec<_>>(), ["first", "first"]);
}

#[tokio::test]
async fn cases_of_a_finished_report_can_be_resumed_too() {
    let judges = |ids: &[&str]| {
        dataset(ids)
            .evaluator(judge("judge-a", 1.0, &[]))
            .evaluator(judge("judge-b", 0.0, &[]))
    };
    let earlier = echo(judges(&["a"])).await;
    assert_eq!(names(&earlier.cases[0]), ["accurate", "accurate_2"]);
    let task = |case: std::sync::Arc<evals::Case<Words>>, _: evals::TaskScope| async move {
        Ok(case.input.clone())
    };
    let report = evals::Experiment::new(judges(&["a", "b"]), task)
        .resume(earlier.cases)
        .run()
        .await;
    assert_eq!(report.cases[0].outcomes, report.cases[1].outcomes);
}

/// An evaluator as a dataset file names it.
#[derive(Debug)]
struct Registered;

#[async_trait]
impl Evaluator<Words> for Registered {
    fn name(&self) -> &'static str {
        "Contains"
    }

    async fn evaluate(&self, _: &Context<'_, Words>) -> Result<Vec<Outcome>, EvaluatorError> {
        Ok(vec![Outcome::assertion("Contains", true)])
    }

    fn spec(&self) -> Option<EvaluatorSpec> {
        Some(EvaluatorSpec {
            name: "Contains".to_owned(),
            arguments: SpecArguments::Positional(["Paris".into()]),
        })
    }

    fn version(&self) -> Option<&str> {
        Some("2")
    }
}

#[tokio::test]
async fn a_report_holds_specifications_and_versions_once() {
    let cases = [case("a").evaluator(Registered), case("b")];
    let own = Scripted::constant("exact", Outcome::assertion("exact", true));
    let dataset = Dataset::new("words", cases).unwrap();
    let report = echo(dataset.evaluator(own).evaluator(Registered)).await;
    let written = serde_json::to_value(&report).unwrap();
    let contains = serde_json::json!({
        "name": "Contains",
        "spec": {"name": "Contains", "arguments": ["Paris"]},
        "version": "2",
    });
    assert_eq!(
        written["evaluators"],
        serde_json::json!(["exact", contains])
    );
    assert_eq!(
        written["cases"][0]["own_evaluators"],
        serde_json::json!([contains])
    );
    let back: evals::Report<Words> = serde_json::from_value(written).unwrap();
    assert_eq!(back.evaluators, report.evaluators);
    assert_eq!(back.evaluators[1].version.as_deref(), Some("2"));
}
