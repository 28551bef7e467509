//! Tests of the question answering experiment.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use evals::{Evaluator, Experiment, FailureClass, Report, Value};
use evals_metrics::{Judgements, Ranking};
use evals_models::{Failure, Finish};

use super::*;
use crate::Passage;
use crate::answering::{ChatAnswerer, Refusals};
use crate::fakes::{Found, Scripted, ended, passage, said};
use crate::judging::{ChatJudge, RefusalJudge};

mod failures;

fn question(id: &str, answerable: bool) -> Question {
    Question {
        id: id.to_owned(),
        text: "Which city?".to_owned(),
        answer: answerable.then(|| "Paris".to_owned()),
        answerable,
        relevant: Judgements::from_iter([("b".to_owned(), 1), ("c".to_owned(), 1)]),
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
    let task = task(Arc::new(Found(passages())), Arc::new(answerer), settings);
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
    assert!(case.attributes.is_empty());
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

/// The outcomes of all measures without a judge for one answer, by name.
async fn measured(text: &str, answerable: bool) -> Vec<(String, Value, Option<String>)> {
    let evaluators: Vec<Arc<dyn Evaluator<Qa>>> = vec![
        Arc::new(CitationPrecision),
        Arc::new(CiteRate),
        Arc::new(Refusal::new()),
        Arc::new(ExactMatch),
        Arc::new(TokenF1),
        Arc::new(RougeL),
        Arc::new(NumberMatch),
    ];
    let report = run(&Scripted::new([said(text)]), answerable, evaluators).await;
    let outcomes = report.cases[0].outcomes.iter();
    outcomes
        .map(|outcome| {
            (
                outcome.name.clone(),
                outcome.value.clone(),
                outcome.reason.clone(),
            )
        })
        .collect()
}

fn row(name: &str, value: Value, reason: &str) -> (String, Value, Option<String>) {
    let reason = (!reason.is_empty()).then(|| reason.to_owned());
    (name.to_owned(), value, reason)
}

#[tokio::test]
async fn an_answer_is_measured() {
    // Cited: a, b. Relevant: b, c. AP = 1/2 · 1/2. Token F1 and ROUGE-L: 2 · 1 / (3 + 1).
    let expected = [
        row("citation AP", Value::Score(0.25), ""),
        row("cited", Value::Assertion(true), ""),
        row("refusal precision", Value::Undefined, "answered"),
        row("refusal recall", Value::Undefined, "answerable question"),
        row("exact match", Value::Assertion(false), ""),
        row("token F1", Value::Score(0.5), ""),
        row("ROUGE-L", Value::Score(0.5), ""),
        row(
            "number match",
            Value::Undefined,
            "reference without numbers",
        ),
    ];
    assert_eq!(measured("Maybe [1] Paris [2] again.", true).await, expected);
}

#[test]
fn equivalence_citing_and_refusing_have_no_common_pass_rate() {
    let dataset = dataset("demo", [question("q", true)]).unwrap();
    assert!(!dataset.pools_assertions());
}

#[tokio::test]
async fn an_answer_without_citations_has_no_precision() {
    let measured = measured("Paris", true).await;
    assert_eq!(measured[0], row("citation AP", Value::Score(0.0), ""));
    assert_eq!(measured[1], row("cited", Value::Assertion(false), ""));
    assert_eq!(measured[4], row("exact match", Value::Assertion(true), ""));
}

#[tokio::test]
async fn a_wrong_refusal_is_measured() {
    let expected = [
        row("citation AP", Value::Undefined, "refused"),
        row("cited", Value::Undefined, "refused"),
        row("refusal precision", Value::Assertion(false), ""),
        row("refusal recall", Value::Undefined, "answerable question"),
        row("exact match", Value::Assertion(false), "refused"),
        row("token F1", Value::Score(0.0), "refused"),
        row("ROUGE-L", Value::Score(0.0), "refused"),
        row("number match", Value::Assertion(false), "refused"),
    ];
    assert_eq!(measured("I don't know.", true).await, expected);
}

#[tokio::test]
async fn refusals_of_unanswerable_questions_are_right() {
    let refused = measured("I don't know.", false).await;
    let unanswerable = |name| row(name, Value::Undefined, "unanswerable");
    let citing = ["citation AP", "cited"].map(unanswerable);
    assert_eq!(refused[..2], citing);
    let right = Value::Assertion(true);
    assert_eq!(refused[2], row("refusal precision", right.clone(), ""));
    assert_eq!(refused[3], row("refusal recall", right, ""));
    assert_eq!(refused[5], unanswerable("token F1"));
    let answered = measured("Paris [2].", false).await;
    assert_eq!(answered[..2], citing, "there is nothing to cite");
    assert_eq!(
        answered[2],
        row("refusal precision", Value::Undefined, "answered")
    );
    assert_eq!(
        answered[3],
        row("refusal recall", Value::Assertion(false), "")
    );
}

#[tokio::test]
async fn a_refusal_judge_is_asked_only_without_a_known_sentence() {
    let judged = |text: &'static str, judge: Arc<Scripted>| async move {
        let refusal = Refusal::new().judge(RefusalJudge::new(judge));
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
    let task = task(Arc::new(Found(passages())), Arc::new(answerer), settings);
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

#[test]
fn citations_of_one_document_count_once() {
    let answered = crate::answering::Answered {
        text: "A [1]. B [3]. C [2].".to_owned(),
        refused: false,
        finish: Finish::Stop,
        calls: Vec::new(),
    };
    let answer = Answer::new(answered, passages(), Ranking::default());
    assert_eq!(answer.citations, ["a", "b"]);
}

/// Adds one chunk on either side of every passage.
#[derive(Debug)]
struct Around;

#[async_trait::async_trait]
impl Neighbours for Around {
    async fn chunks(
        &self,
        document: &str,
        ordinals: std::ops::RangeInclusive<u32>,
    ) -> Result<Vec<Passage>, crate::SearchError> {
        let chunk = |ordinal| Passage {
            ordinal,
            ..passage(document, &format!("chunk {ordinal}"))
        };
        Ok(ordinals.map(chunk).collect())
    }
}

/// Every letter is a token.
#[derive(Debug)]
struct ByLetter;

impl evals_models::Tokenizer for ByLetter {
    fn identity(&self) -> &'static str {
        "by letter"
    }

    fn boundaries(&self, text: &str) -> Vec<std::ops::Range<usize>> {
        let letters = text.char_indices();
        letters
            .map(|(at, letter)| at..at + letter.len_utf8())
            .collect()
    }
}

#[tokio::test]
async fn passages_are_widened_and_then_cut() {
    let model = Scripted::new([said("Rome [1]")]);
    let answerer = ChatAnswerer::new(Arc::clone(&model) as _, Refusals::default());
    let settings = Settings {
        limit: NonZeroUsize::new(2).unwrap(),
        expansion: Some(Expansion {
            neighbours: Arc::new(Around),
            radius: std::num::NonZeroU32::MIN,
        }),
        budget: Some(Budget {
            tokens: NonZeroUsize::new(20).unwrap(),
            tokenizer: Arc::new(ByLetter),
        }),
    };
    let task = task(Arc::new(Found(passages())), Arc::new(answerer), settings);
    let dataset = dataset("demo", [question("q", true)]).unwrap();
    let report = Experiment::new(dataset, task).run().await;
    let case = &report.cases[0];
    let answer = case.result.output().unwrap();
    // 5 letters, a line break and 7 letters; with the second passage it would be 27.
    assert_eq!(answer.passages.len(), 1);
    assert_eq!(answer.passages[0].text, "Rome.\nchunk 1");
    assert_eq!(case.metrics["context tokens"].to_bits(), 13_f64.to_bits());
    assert_eq!(case.metrics["context passages"].to_bits(), 1_f64.to_bits());
    assert!(case.attributes.is_empty());
    let stages = case.timings.iter().map(|timing| timing.stage.as_str());
    assert_eq!(
        stages.collect::<Vec<_>>(),
        ["bm25", "neighbours", "generate"]
    );
}

#[tokio::test]
async fn a_case_records_that_its_only_passage_was_cut() {
    let model = Scripted::new([said("Rome [1]")]);
    let answerer = ChatAnswerer::new(Arc::clone(&model) as _, Refusals::default());
    let settings = Settings {
        budget: Some(Budget {
            tokens: NonZeroUsize::new(4).unwrap(),
            tokenizer: Arc::new(ByLetter),
        }),
        ..Settings::new(NonZeroUsize::new(2).unwrap())
    };
    let task = task(Arc::new(Found(passages())), Arc::new(answerer), settings);
    let dataset = dataset("demo", [question("q", true)]).unwrap();
    let report = Experiment::new(dataset, task).run().await;
    let case = &report.cases[0];
    assert_eq!(case.result.output().unwrap().passages[0].text, "Rome");
    assert_eq!(case.metrics["context tokens"].to_bits(), 4_f64.to_bits());
    assert_eq!(case.attributes["context cut from"], 5);
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
