//! Tests of the question answering experiment: answers, judges, tokens and cost.

mod agent;
mod context;
mod failures;
mod measures;

use super::*;
use crate::Passage;
use crate::answering::{ChatAnswerer, Refusals};
use crate::judging::{ChatJudge, RefusalJudge};
use crate::rag_judges::RagJudges;
use crate::tests::fakes::{FoundPassages, Scripted, ended, passage, said};
use evals::{Evaluator, Experiment, FailureClass, Report, Value};
use evals_metrics::{Judgements, Ranking};
use evals_models::{Failure, Finish};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

fn question(id: &str, answerable: bool) -> Question {
    Question {
        id: id.to_owned(),
        text: "Which city?".to_owned(),
        answer: answerable.then(|| "Paris".to_owned()),
        accepted: Vec::new(),
        answerable,
        relevant: Judgements::from_iter([("b".to_owned(), 1), ("c".to_owned(), 1)]),
        evidence: Vec::new(),
        nuggets: Vec::new(),
        user: None,
        turn: None,
        cluster: None,
        metadata: serde_json::Map::new(),
    }
}

fn passages() -> Vec<Passage> {
    vec![
        passage("a", "Rome."),
        passage("b", "Paris."),
        passage("a", "Rome again."),
        passage("c", "Paris again."),
    ]
}

/// Runs one question through a model and the evaluators; the model sees three of four passages.
async fn run(
    model: &Arc<Scripted>,
    answerable: bool,
    evaluators: Vec<Arc<dyn Evaluator<Qa>>>,
) -> Report<Qa> {
    let answerer = ChatAnswerer::new(Arc::clone(model) as _, Refusals::default());
    let settings = Settings::new(NonZeroUsize::new(3).unwrap());
    let task = task(
        Arc::new(FoundPassages(passages())),
        Arc::new(answerer),
        settings,
    );
    let dataset = dataset("demo", [question("q", answerable)]).unwrap();
    Experiment::new(dataset.with_evaluators(evaluators), task)
        .run()
        .await
}

fn equivalence(model: &Arc<Scripted>) -> Vec<Arc<dyn Evaluator<Qa>>> {
    let judge = ChatJudge::new(Arc::clone(model) as _);
    vec![Arc::new(Equivalence::new(Arc::new(judge)))]
}

const PASS: &str = r#"{"reason": "same city", "pass": true}"#;

#[tokio::test]
async fn an_answer_comes_with_its_citations_and_passages() {
    let model = Scripted::new([said("Paris [2], not Rome [1][3] [9].")]);
    let report = run(&model, true, Vec::new()).await;
    let answer = report.cases[0].result.output().unwrap();
    assert_eq!(answer.citations, ["b", "a"]);
    assert_eq!(answer.unknown_citations, 1);
    assert_eq!(answer.plain(), "Paris, not Rome [9].");
    assert_eq!(answer.passages, passages()[..3]);
    assert_eq!(answer.ranking.len(), 3);
    let read: Answer = serde_json::from_str(&serde_json::to_string(answer).unwrap()).unwrap();
    assert_eq!(read, *answer);
}

/// Answers after other cases have answered, as a model whose calls go in batches does. Its replies may come from a batch.
#[derive(Debug)]
struct Late(Arc<Scripted>, Duration, bool);

#[async_trait::async_trait]
impl evals_models::ChatModel for Late {
    fn identity(&self) -> &evals_models::ModelIdentity {
        self.0.identity()
    }

    fn parameters(&self) -> serde_json::Map<String, serde_json::Value> {
        self.0.parameters()
    }

    async fn chat(
        &self,
        request: &evals_models::ChatRequest,
    ) -> Result<evals_models::ChatReply, evals_models::ChatError> {
        std::thread::sleep(self.1);
        let mut reply = self.0.chat(request).await?;
        reply.served.service_time = Duration::from_millis(1);
        reply.served.batched = self.2;
        Ok(reply)
    }
}

#[tokio::test]
async fn the_time_of_a_case_has_no_wait_for_batches() {
    let wait = Duration::from_millis(500);
    let unbatched = Settings::new(NonZeroUsize::new(3).unwrap());
    // A run without batches may collect a reply of an earlier session's batch.
    for (settings, is_from_batch) in [(batched(), false), (unbatched, true)] {
        let model = Late(Scripted::new([said("Paris")]), wait, is_from_batch);
        let answerer = ChatAnswerer::new(Arc::new(model), Refusals::default());
        let task = task(
            Arc::new(FoundPassages(passages())),
            Arc::new(answerer),
            settings,
        );
        let dataset = dataset("demo", [question("q", true)]).unwrap();
        let began = std::time::Instant::now();
        let report = Experiment::new(dataset, task).run().await;
        let (whole, counted) = (began.elapsed(), report.cases[0].duration);
        let call = Duration::from_millis(1);
        assert!(counted + wait <= whole + call, "{counted:?} of {whole:?}");
    }
}

/// The settings of a run that uses batches.
fn batched() -> Settings {
    let mut settings = Settings::new(NonZeroUsize::new(3).unwrap());
    settings.in_batches = true;
    settings
}

#[tokio::test]
async fn tokens_and_stages_are_recorded_for_answerer_and_judge() {
    let judge = Scripted::new([said("?"), said(PASS)]);
    let report = run(&Scripted::new([said("Paris")]), true, equivalence(&judge)).await;
    let case = &report.cases[0];
    let metrics: Vec<_> = case
        .metrics
        .iter()
        .map(|(name, value)| (name.as_str(), *value))
        .collect();
    assert_eq!(
        metrics,
        [
            ("context passages", 3.0),
            ("input tokens", 100.0),
            ("judge input tokens", 200.0),
            ("judge output tokens", 20.0),
            ("output tokens", 10.0),
        ]
    );
    let timings: Vec<_> = case
        .timings
        .iter()
        .map(|timing| (timing.stage.as_str(), timing.duration, timing.cached))
        .collect();
    let call = Duration::from_secs(2);
    assert_eq!(
        timings,
        [
            ("bm25", Duration::from_millis(5), true),
            ("generate", call, false),
            ("judge", call, false),
            ("judge", call, false),
        ]
    );
    let attributes: Vec<_> = case.attributes.keys().map(String::as_str).collect();
    assert_eq!(attributes, ["judge verdict unsigned"]);
}

#[tokio::test]
async fn estimated_tokens_and_stored_replies_are_marked() {
    let mut reply = said("Paris");
    reply.usage.estimated = true;
    reply.served.cached = true;
    let report = run(&Scripted::new([reply]), true, Vec::new()).await;
    let case = &report.cases[0];
    assert_eq!(case.attributes["tokens estimated"], true);
    assert!(case.timings[1].cached);
    assert_eq!(case.metrics["input tokens"].to_bits(), 100_f64.to_bits());
}

#[tokio::test]
async fn a_failed_answer_is_recorded_with_class_and_tokens() {
    let model = Scripted::new([ended("Par", Finish::Length)]);
    let report = run(&model, true, equivalence(&Scripted::new([]))).await;
    let case = &report.cases[0];
    let failure = case.result.failure().unwrap();
    assert_eq!(
        failure.message,
        "`test:scripted` did not finish its answer within 10 tokens"
    );
    assert_eq!(failure.class, Some(FailureClass::Content));
    assert_eq!(case.metrics["output tokens"].to_bits(), 10_f64.to_bits());
}

#[tokio::test]
async fn a_judge_that_fails_leaves_the_answer_unjudged() {
    let judge = Scripted::new([said("?"), said("!")]);
    let report = run(&Scripted::new([said("Paris")]), true, equivalence(&judge)).await;
    let case = &report.cases[0];
    assert_eq!(case.outcomes, []);
    let failure = &case.evaluator_failures[0];
    assert_eq!(
        failure.message,
        "`test:scripted` gave no readable verdict, not even when asked again: \
         it has no JSON object with a text `reason` and a boolean `pass`"
    );
    assert_eq!(failure.class, Some(FailureClass::Content));
    assert_eq!(
        case.metrics["judge input tokens"].to_bits(),
        200_f64.to_bits()
    );

    let away = Scripted::failing(Failure::Transient);
    let report = run(&Scripted::new([said("Paris")]), true, equivalence(&away)).await;
    let failure = &report.cases[0].evaluator_failures[0];
    assert_eq!(
        failure.message,
        "`test:scripted` gave no answer: the server is away"
    );
    assert_eq!(failure.class, Some(FailureClass::Transient));
}

#[tokio::test]
async fn a_terminal_failure_stops_the_run() {
    let model = Scripted::failing(Failure::Terminal);
    let report = run(&model, true, Vec::new()).await;
    assert_eq!(
        report.stopped.as_deref(),
        Some("`test:scripted` gave no answer: the server is away")
    );
    assert_eq!((report.cases.len(), report.not_run), (0, 1));
}

#[tokio::test]
async fn the_judge_reads_the_answer_without_its_markers() {
    let judge = Scripted::new([said(PASS)]);
    let answer = "Paris [2]. By test:scripted.";
    let report = run(&Scripted::new([said(answer)]), true, equivalence(&judge)).await;
    let outcome = report.cases[0].outcome("equivalent").unwrap();
    assert_eq!(outcome.value, Value::Assertion(true));
    assert_eq!(outcome.reason.as_deref(), Some("same city"));
    let prompt = &judge.requests()[0].messages[0].content;
    assert!(prompt.contains("\nParis. By test:scripted.\n"), "{prompt}");
}

#[tokio::test]
async fn the_judge_gets_a_default_reference_for_unanswerable_questions() {
    let judge = Scripted::new([said(PASS)]);
    run(&Scripted::new([said("Paris")]), false, equivalence(&judge)).await;
    let prompt = &judge.requests()[0].messages[0].content;
    assert!(prompt.contains("\nThe documents do not answer the question.\n"));
}

#[test]
fn equivalence_citing_and_refusing_have_no_common_pass_rate() {
    let dataset = dataset("demo", [question("q", true)]).unwrap();
    assert!(!dataset.pools_assertions());
}

#[tokio::test]
async fn a_refusal_judge_is_asked_only_without_a_known_sentence() {
    let judged = |text: &'static str, judge: Arc<Scripted>| async move {
        let refusal = Refusal::new().judge(RefusalJudge::new(judge), RagJudges::CONTEXT_TOKENS);
        run(&Scripted::new([said(text)]), false, vec![Arc::new(refusal)]).await
    };
    let judge = Scripted::new([said(r#"{"reason": "it declines", "pass": true}"#)]);
    let report = judged("Sadly, nobody knows.", Arc::clone(&judge)).await;
    let outcome = report.cases[0].outcome("refusal recall").unwrap();
    assert_eq!(outcome.value, Value::Assertion(true));
    assert_eq!(outcome.reason.as_deref(), Some("it declines"));
    assert!(report.cases[0].metrics.contains_key("judge input tokens"));
    let prompt = &judge.requests()[0].messages[0].content;
    assert!(prompt.contains("\nSadly, nobody knows.\n"));

    let report = judged("I don't know.", Scripted::new([])).await;
    let outcome = report.cases[0].outcome("refusal recall").unwrap();
    assert_eq!(outcome.value, Value::Assertion(true));
}

#[tokio::test]
async fn each_repetition_is_a_new_request() {
    let model = Scripted::new([said("Paris"), said("Rome")]);
    let answerer = ChatAnswerer::new(Arc::clone(&model) as _, Refusals::default());
    let settings = Settings::new(NonZeroUsize::MIN);
    let task = task(
        Arc::new(FoundPassages(passages())),
        Arc::new(answerer),
        settings,
    );
    let dataset = dataset("demo", [question("q", true)]).unwrap();
    let twice = std::num::NonZeroU32::new(2).unwrap();
    Experiment::new(dataset, task).repeat(twice).run().await;
    let repeats: Vec<_> = model
        .requests()
        .iter()
        .map(|request| request.repeat)
        .collect();
    assert_eq!(repeats, [1, 2]);
}

#[tokio::test]
async fn a_cost_adds_up_the_tokens_of_all_cases() {
    let judge = Scripted::new([said(PASS)]);
    let report = run(&Scripted::new([said("Paris")]), true, equivalence(&judge)).await;
    let price = crate::prices::Price {
        input: Some(10_000.0),
        output: Some(100_000.0),
    };
    let cost = crate::prices::Cost::of(&report.cases, &price, &crate::prices::Price::default());
    // 100 and 10 tokens at 1 and 10 cents each.
    assert_eq!((cost.answering, cost.judging), (Some(2.0), None));
}

#[tokio::test]
async fn the_judges_prompt_delimits_its_material() {
    let judge = Scripted::new([said(PASS)]);
    run(&Scripted::new([said("Paris")]), true, equivalence(&judge)).await;
    let prompt = &judge.requests()[0].messages[0].content;
    let (_, material) = prompt.split_once("<question-").unwrap();
    let nonce = &material[..16];
    let expected = format!(
        "<question-{nonce}>\nWhich city?\n</question-{nonce}>\n\n\
         <reference-{nonce}>\nParis\n</reference-{nonce}>\n\n\
         <answer-{nonce}>\nParis\n</answer-{nonce}>\n\n\
         Reply with one JSON object"
    );
    assert!(prompt.contains(&expected), "{prompt}");
}

#[test]
fn no_metadata_is_null() {
    assert_eq!(json!(QuestionMetadata::default()), json!(null));
    for none in ["null", "{}"] {
        let read: QuestionMetadata = serde_json::from_str(none).unwrap();
        assert_eq!(read, QuestionMetadata::default());
    }
    let some = json!({"topic": "Sports", "year": 2024});
    let read: QuestionMetadata = serde_json::from_value(some.clone()).unwrap();
    assert_eq!(json!(read), some);
    let of_rankings = json!({"answerable": true});
    assert!(serde_json::from_value::<QuestionMetadata>(of_rankings).is_err());
}
