//! Evaluators: order, outcomes and recordings.

mod failures;
mod names;

use crate::fakes::{Scripted, Words, case, dataset, echo};
use async_trait::async_trait;
use evals::{
    CaseReport, Context, Dataset, Direction, Evaluator, EvaluatorError, EvaluatorOrigin,
    MeasureSource, Outcome, Value,
};
use evals_metrics::Bootstrap;
use std::time::Duration;

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

#[tokio::test]
async fn an_undefined_outcome_always_has_a_reason() {
    let silent = Outcome {
        name: "silent".to_owned(),
        value: Value::Undefined,
        reason: None,
        evidence: Vec::new(),
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
