//! Evaluators: order, names, failures and recordings.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use evals::{
    CaseReport, Context, Dataset, Direction, Evaluator, EvaluatorError, EvaluatorOrigin,
    FailureKind, MeasureSource, Outcome, Value,
};
use evals_metrics::Bootstrap;

use crate::fakes::{Scripted, Words, case, dataset, echo};

async fn judged(dataset: Dataset<Words>) -> CaseReport<Words> {
    echo(dataset).await.cases.remove(0)
}

fn names(report: &CaseReport<Words>) -> Vec<&str> {
    report
        .outcomes
        .iter()
        .map(|outcome| outcome.name.as_str())
        .collect()
}

#[tokio::test]
async fn evaluators_of_the_case_come_before_those_of_the_dataset() {
    let own = Scripted::constant("own", Outcome::score("own", 1.0));
    let cases = [case("a").evaluator(own), case("b")];
    let shared = Scripted::constant("shared", Outcome::score("shared", 1.0));
    let report = echo(Dataset::new("words", cases).unwrap().evaluator(shared)).await;
    assert_eq!(names(&report.cases[0]), ["own", "shared"]);
    assert_eq!(names(&report.cases[1]), ["shared"]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_evaluator_keeps_its_place_and_the_others_do_not_wait() {
    let slow = |name, seconds| {
        Scripted::constant(name, Outcome::score(name, 1.0)).after(Duration::from_secs(seconds))
    };
    let dataset = dataset(["a"])
        .evaluator(slow("first", 3))
        .evaluator(slow("second", 1))
        .evaluator(slow("third", 2));
    let started = tokio::time::Instant::now();
    let report = judged(dataset).await;
    assert_eq!(names(&report), ["first", "second", "third"]);
    assert_eq!(started.elapsed(), Duration::from_secs(3));
}

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

#[tokio::test]
async fn errors_and_panics_of_evaluators_leave_the_others_alone() {
    let dataset = dataset(["a"])
        .evaluator(Scripted::new("fails", |_| {
            Err("x".parse::<u8>().unwrap_err().into())
        }))
        .evaluator(Scripted::new("panics", |_| panic!("out of range")))
        .evaluator(Scripted::constant("fine", Outcome::score("fine", 1.0)));
    let report = judged(dataset).await;
    assert_eq!(names(&report), ["fine"]);
    let failures: Vec<_> = report
        .evaluator_failures
        .iter()
        .map(|failure| {
            (
                failure.evaluator.as_str(),
                failure.kind,
                failure.message.as_str(),
            )
        })
        .collect();
    assert_eq!(
        failures,
        [
            ("fails", FailureKind::Error, "invalid digit found in string"),
            ("panics", FailureKind::Panic, "out of range"),
        ]
    );
}

#[tokio::test]
async fn a_score_that_is_not_finite_fails_alone() {
    let dataset = dataset(["a"]).evaluator(Scripted::new("many", |_| {
        Ok(vec![
            Outcome::score("x", f64::NAN),
            Outcome::score("y", 0.5),
            Outcome::score("z", f64::NEG_INFINITY),
        ])
    }));
    let report = judged(dataset).await;
    assert_eq!(names(&report), ["y"]);
    let messages: Vec<_> = report
        .evaluator_failures
        .iter()
        .map(|failure| failure.message.as_str())
        .collect();
    assert_eq!(
        messages,
        [
            "score `x` is not finite: NaN",
            "score `z` is not finite: -inf"
        ]
    );
    assert!(
        report
            .evaluator_failures
            .iter()
            .all(|failure| failure.kind == FailureKind::NotFinite)
    );
}

#[tokio::test]
async fn an_undefined_outcome_always_has_a_reason() {
    let silent = Outcome {
        name: "silent".to_owned(),
        value: Value::Undefined,
        reason: None,
    };
    let dataset = dataset(["a"])
        .evaluator(Scripted::constant(
            "open",
            Outcome::undefined("open", "no relevant documents"),
        ))
        .evaluator(Scripted::constant("silent", silent));
    let report = judged(dataset).await;
    let reasons: Vec<_> = report
        .outcomes
        .iter()
        .map(|outcome| outcome.reason.as_deref())
        .collect();
    assert_eq!(
        reasons,
        [Some("no relevant documents"), Some("no reason given")]
    );
}

#[tokio::test]
async fn evaluators_see_the_output_and_what_the_task_recorded() {
    let seen = Scripted::new("seen", |context: &Context<'_, Words>| {
        let timing = &context.recording.timings[0];
        let text = format!(
            "{} {} {} {:?} {} {}",
            context.output,
            context.repeat,
            timing.stage,
            timing.duration,
            timing.cached,
            context.recording.metrics["tokens"]
        );
        Ok(vec![Outcome::label("seen", text)])
    });
    let task = |case: std::sync::Arc<evals::Case<Words>>, scope: evals::TaskScope| async move {
        scope.metric("tokens", 1.0);
        scope.metric("tokens", 7.0);
        scope.cached_timing("embed", Duration::from_millis(4));
        Ok(case.input.to_uppercase())
    };
    let report = evals::Experiment::new(dataset(["a"]).evaluator(seen), task)
        .run()
        .await;
    let expected = Value::Label("INPUT OF A 1 embed 4ms true 7".to_owned());
    assert_eq!(report.cases[0].outcomes[0].value, expected);
}

#[tokio::test(start_paused = true)]
async fn evaluator_recordings_follow_the_tasks_in_evaluator_order() {
    let judge = |name: &'static str, seconds: u64, tokens: f64| {
        Scripted::new(name, move |context: &Context<'_, Words>| {
            context.scope.timing(name, Duration::from_secs(seconds));
            context.scope.add_metric("tokens", tokens);
            context.scope.metric("last", tokens);
            context.scope.attribute("judge", name);
            Ok(vec![Outcome::score(name, 1.0)])
        })
        .after(Duration::from_secs(seconds))
    };
    let failing = Scripted::new("failing", |context: &Context<'_, Words>| {
        assert_eq!(
            context.recording.metrics.get("tokens"),
            Some(&1.0),
            "the task's alone"
        );
        context.scope.add_metric("tokens", 100.0);
        Err(EvaluatorError::new("unreadable"))
    });
    let dataset = dataset(["a"])
        .evaluator(judge("slow", 3, 10.0))
        .evaluator(judge("quick", 1, 20.0))
        .evaluator(failing);
    let task = |case: std::sync::Arc<evals::Case<Words>>, scope: evals::TaskScope| async move {
        scope.timing("generate", Duration::from_secs(2));
        scope.metric("tokens", 1.0);
        Ok(case.input.clone())
    };
    let report = evals::Experiment::new(dataset, task).run().await;
    let case = &report.cases[0];
    let stages: Vec<_> = case
        .timings
        .iter()
        .map(|timing| (timing.stage.as_str(), timing.duration.as_secs()))
        .collect();
    assert_eq!(stages, [("generate", 2), ("slow", 3), ("quick", 1)]);
    assert_eq!(case.metrics.get("tokens"), Some(&131.0));
    assert_eq!(case.metrics.get("last"), Some(&20.0));
    assert_eq!(case.attributes["judge"], "quick");
    assert_eq!(case.evaluator_failures.len(), 1);
}

#[tokio::test]
async fn a_context_made_by_hand_records_too() {
    let case = case("a");
    let output = "out".to_owned();
    let context = Context::<Words>::new(&case, &output);
    context.scope.add_metric("tokens", 1.0);
    context.scope.add_metric("tokens", 2.0);
    let recording = context.scope.take();
    assert_eq!(recording.metrics.get("tokens"), Some(&3.0));
    assert_eq!(context.scope.take(), evals::Recording::default());
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
    assert_eq!(names(&report.cases[0]), ["exact", "exact_2", "exact_3"]);
    assert_eq!(names(&report.cases[1]), ["exact_3"]);
    assert_eq!(names(&report.cases[2]), ["exact", "exact_3"]);
    assert_eq!(report.cases[0].own_evaluators, ["exact", "exact"]);

    let summary = report.summary(&Bootstrap::default());
    let rates: Vec<_> = summary
        .assertions
        .iter()
        .map(|(name, mean)| (name.as_str(), mean.value, mean.n))
        .collect();
    assert_eq!(
        rates,
        [
            ("exact", Some(1.0), 2),
            ("exact_2", Some(1.0), 1),
            ("exact_3", Some(0.0), 3)
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

#[derive(Debug)]
struct Unprintable(fn() -> fmt::Result);

impl fmt::Display for Unprintable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("half a message ")?;
        (self.0)()
    }
}

impl std::error::Error for Unprintable {}

#[tokio::test]
async fn an_error_that_cannot_be_displayed_is_a_failure_like_any_other() {
    let broken: [fn() -> fmt::Result; 2] = [|| Err(fmt::Error), || panic!("nothing to say")];
    for broken in broken {
        let dataset = dataset(["a"]).evaluator(Scripted::new("fails", move |_| {
            Err(Unprintable(broken).into())
        }));
        let report = judged(dataset).await;
        assert_eq!(
            report.evaluator_failures[0].message,
            "half a message (an error that cannot be displayed)"
        );
    }
}

/// Lower is better for `wer`, higher for anything else.
#[derive(Debug)]
struct ErrorRate;

#[async_trait]
impl Evaluator<Words> for ErrorRate {
    fn name(&self) -> &'static str {
        "speech"
    }

    async fn evaluate(&self, _: &Context<'_, Words>) -> Result<Vec<Outcome>, EvaluatorError> {
        Ok(vec![
            Outcome::score("wer", 0.1),
            Outcome::score("bleu", 0.5),
        ])
    }

    fn better(&self, outcome: &str) -> Direction {
        match outcome {
            "wer" => Direction::Lower,
            _ => Direction::Higher,
        }
    }
}

#[tokio::test]
async fn an_evaluator_declares_the_better_direction_of_its_outcomes() {
    let dataset = dataset(["a"])
        .evaluator(Scripted::constant("other", Outcome::score("wer", 1.0)))
        .evaluator(ErrorRate);
    let report = echo(dataset).await;
    let better: Vec<_> = report.cases[0]
        .outcomes
        .iter()
        .map(|outcome| {
            let given = outcome.given_name.as_deref();
            (outcome.name.as_str(), given, outcome.better)
        })
        .collect();
    assert_eq!(
        better,
        [
            ("wer", None, Direction::Higher),
            ("wer_2", Some("wer"), Direction::Lower),
            ("bleu", None, Direction::Higher),
        ]
    );
    let summary = report.summary(&Bootstrap::default());
    let (title, source) = &summary.sources[1];
    assert_eq!(
        (title.as_str(), source),
        (
            "wer_2",
            &MeasureSource {
                evaluator: "speech".to_owned(),
                origin: EvaluatorOrigin::Dataset(2),
                outcome: "wer".to_owned(),
                better: Direction::Lower,
                mean_title: None,
            }
        )
    );
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
