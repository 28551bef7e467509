//! Tests of targets in both experiments: what a reply says, and what it lacks.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use evals::{CaseReport, Domain, Experiment, FailureClass, Report, Value};
use evals_metrics::{Judgements, Measure};
use evals_targets::{FnTarget, Reply, ReplyDocument, Request};
use serde_json::{Map, json};

use super::matching::{Corpus, CorpusError, MatchRecord, Matcher, Matching};
use super::{Conversations, TargetSystem, qa_task, retrieval_task, settle_matches};
use crate::answering::Refusals;
use crate::judging::OverlapJudge;
use crate::qa::{self, CitationPrecision, CiteRate, Equivalence, ExactMatch, Qa, Refusal, TokenF1};
use crate::retrieval::{self, IdenticalIds};
use crate::{Document, Missing, Question, Retrieval};

const TEXT: &str = "The museum of the town opened in May with pictures of the sea.";

#[derive(Debug)]
struct OneDocument;

impl Corpus for OneDocument {
    fn read(
        &self,
        each: &mut dyn FnMut(Document) -> Result<(), CorpusError>,
    ) -> Result<(), CorpusError> {
        each(Document {
            uri: "d1".to_owned(),
            title: None,
            text: TEXT.to_owned(),
            metadata: Map::new(),
        })
    }
}

fn system(reply: Reply) -> Arc<TargetSystem> {
    let target = FnTarget::new("fixed", move |_: Request| {
        let reply = reply.clone();
        async move { Ok(reply) }
    });
    let ids: HashSet<String> = ["d1", "d2", "d3", "q"].map(str::to_owned).into();
    Arc::new(TargetSystem {
        target: Arc::new(target),
        matcher: Arc::new(Matcher::new(
            Matching::default(),
            ids,
            Arc::new(OneDocument),
        )),
        refusals: Refusals::default(),
        k: NonZeroUsize::new(3).unwrap(),
        conversations: Conversations::none(),
    })
}

fn question() -> Question {
    Question {
        id: "q".to_owned(),
        text: "When did the museum open?".to_owned(),
        answer: Some("in May".to_owned()),
        accepted: Vec::new(),
        answerable: true,
        relevant: Judgements::from_iter([("d1".to_owned(), 1)]),
        evidence: Vec::new(),
        nuggets: Vec::new(),
        user: None,
        turn: None,
        cluster: None,
        metadata: Map::new(),
    }
}

async fn rank(reply: Reply, identical: IdenticalIds) -> CaseReport<Retrieval> {
    let measures: Vec<Measure> = ["RR@3", "R@3"].map(|it| it.parse().unwrap()).into();
    let dataset = retrieval::dataset("demo", [question()], measures).unwrap();
    only(
        Experiment::new(dataset, retrieval_task(system(reply), identical))
            .run()
            .await,
    )
}

async fn answer(reply: Reply) -> CaseReport<Qa> {
    let dataset = qa::dataset("demo", [question()])
        .unwrap()
        .evaluator(Equivalence::new(Arc::new(OverlapJudge::default())))
        .evaluator(ExactMatch)
        .evaluator(TokenF1)
        .evaluator(CitationPrecision)
        .evaluator(CiteRate)
        .evaluator(Refusal::new());
    only(Experiment::new(dataset, qa_task(system(reply))).run().await)
}

fn only<D: Domain>(report: Report<D>) -> CaseReport<D> {
    let mut cases = report.cases;
    assert_eq!(cases.len(), 1);
    cases.remove(0)
}

fn reply(value: serde_json::Value) -> Reply {
    serde_json::from_value(value).unwrap()
}

fn ids(ids: &[&str]) -> Vec<ReplyDocument> {
    let document = |id: &&str| ReplyDocument {
        id: Some((*id).to_owned()),
        ..ReplyDocument::default()
    };
    ids.iter().map(document).collect()
}

/// The value of an outcome, or its reason if it is undefined.
fn outcome<D: Domain>(case: &CaseReport<D>, name: &str) -> String {
    let outcome = case.outcome(name).unwrap_or_else(|| panic!("no {name}"));
    match &outcome.value {
        Value::Score(score) => score.to_string(),
        Value::Assertion(passed) => passed.to_string(),
        Value::Label(label) => label.clone(),
        Value::Undefined => outcome.reason.clone().unwrap(),
    }
}

#[tokio::test]
async fn the_order_of_the_list_is_the_ranking_and_each_document_counts_once() {
    let documents = json!([
        {"id": "d3", "score": 0.1}, {"id": "x", "score": 0.9}, {"id": "d3"}, {"text": TEXT}, {"id": "d2"},
    ]);
    let case = rank(reply(json!({"documents": documents})), IdenticalIds::Keep).await;
    let ranking = &case.result.output().unwrap().ranking;
    let order: Vec<(&str, f32)> = ranking
        .iter()
        .map(|it| (it.id.as_str(), it.score))
        .collect();
    assert_eq!(order, [("d3", 3.0), ("unmatched:x", 2.0), ("d1", 1.0)]);
    assert!((case.score("RR@3").unwrap() - 1.0 / 3.0).abs() < 1e-12);
    let record = &case.attributes[MatchRecord::ATTRIBUTE];
    let expected = json!({"id": 3, "text": 1, "unmatched": 1, "distinct": 4, "unmatched_names": ["unmatched:x"]});
    assert_eq!(*record, expected);
}

#[tokio::test]
async fn scores_of_the_target_are_those_of_the_ranking() {
    let ranked = async |documents: serde_json::Value| {
        let case = rank(reply(json!({"documents": documents})), IdenticalIds::Keep).await;
        let ranking = case.result.output().unwrap().ranking.clone();
        let scores = case.attributes[MatchRecord::ATTRIBUTE]
            .get("scores")
            .cloned();
        let ranking = ranking.into_iter().map(|it| (it.id, it.score));
        (ranking.collect::<Vec<_>>(), scores)
    };
    let named = |ranking: &[(&str, f32)]| -> Vec<(String, f32)> {
        let ranking = ranking.iter();
        ranking
            .map(|(id, score)| ((*id).to_owned(), *score))
            .collect()
    };
    // A passage of a document that came before counts for nothing, its score neither.
    let documents = json!([
        {"id": "d3", "score": 6.17}, {"id": "d3", "score": 5.0}, {"id": "d2", "score": 2.5}, {"id": "d1", "score": 2.5},
    ]);
    let expected = named(&[("d3", 6.17), ("d2", 2.5), ("d1", 2.5)]);
    assert_eq!(ranked(documents).await, (expected, Some(json!("kept"))));
    // A tie in the other order of trec_eval keeps the order of the list.
    let tied =
        json!([{"id": "d1", "score": 2.5}, {"id": "d2", "score": 2.5}, {"id": "d3", "score": 2.4}]);
    let expected = named(&[("d1", 2.5), ("d2", 2.5_f32.next_down()), ("d3", 2.4)]);
    assert_eq!(ranked(tied).await, (expected, Some(json!("kept"))));
    for (unusable, scores) in [
        (
            json!([{"id": "d1", "score": 1.0}, {"id": "d2", "score": 2.0}]),
            Some(json!("out-of-order")),
        ),
        (json!([{"id": "d1", "score": 1.0}, {"id": "d2"}]), None),
        (
            json!([{"id": "d1", "score": 1e300}, {"id": "d2", "score": 2.0}]),
            None,
        ),
    ] {
        let expected = named(&[("d1", 2.0), ("d2", 1.0)]);
        assert_eq!(ranked(unusable).await, (expected, scores));
    }
}

#[tokio::test]
async fn a_question_that_is_a_document_can_be_left_out_before_the_cut() {
    let reply = Reply {
        documents: Some(ids(&["q", "d3", "d2", "d1"])),
        ..Reply::default()
    };
    let kept = rank(reply.clone(), IdenticalIds::Keep).await;
    assert_eq!(outcome(&kept, "R@3"), "0");
    let left_out = rank(reply, IdenticalIds::LeaveOut).await;
    assert_eq!(outcome(&left_out, "R@3"), "1");
}

#[tokio::test]
async fn rank_measures_are_undefined_without_documents_and_zero_for_an_empty_list() {
    let none = rank(reply(json!({"answer": "in May"})), IdenticalIds::Keep).await;
    assert_eq!(outcome(&none, "RR@3"), "the target returned no documents");
    assert_eq!(outcome(&none, "R@3"), "the target returned no documents");
    let empty = rank(reply(json!({"documents": []})), IdenticalIds::Keep).await;
    assert_eq!(outcome(&empty, "RR@3"), "0");
}

#[tokio::test]
async fn an_answer_is_judged_and_its_citations_are_mapped_to_the_corpus() {
    let documents = json!([{"id": "chunk 7", "text": TEXT, "title": "Museum"}, {"id": "d2"}]);
    let case = answer(reply(json!({
        "answer": "in May", "documents": documents, "citations": ["chunk 7", "d3", "chunk 7", "chunk 99"],
        "usage": {"input_tokens": 20, "output_tokens": 3}, "model": "m", "version": "1.2", "reported_seconds": 0.5,
        "metrics": {"hops": 2.0}, "attributes": {"route": "fast"},
    })))
    .await;
    assert_eq!(outcome(&case, "equivalent"), "true");
    assert_eq!(outcome(&case, "exact match"), "true");
    assert_eq!(outcome(&case, "cited"), "true");
    assert_eq!(outcome(&case, "citation AP"), "1");
    let output = case.result.output().unwrap();
    assert_eq!(output.citations, ["d1", "d3"]);
    assert_eq!(output.unknown_citations, 1);
    assert_eq!(output.missing, []);
    let passages: Vec<_> = output
        .passages
        .iter()
        .map(|it| (&*it.document, &*it.text))
        .collect();
    assert_eq!(passages, [("d1", TEXT)]);
    assert_eq!(
        (case.metrics["input tokens"], case.metrics["hops"]),
        (20.0, 2.0)
    );
    assert_eq!(case.attributes["target model"], "m");
    assert_eq!(case.attributes["target version"], "1.2");
    assert_eq!(case.attributes["route"], "fast");
    assert_eq!(case.timings[0].stage, "target (reported)");
}

#[tokio::test]
async fn what_an_answer_needs_is_undefined_without_one() {
    let case = answer(reply(json!({"documents": [{"id": "d1"}]}))).await;
    for name in [
        "equivalent",
        "exact match",
        "token F1",
        "refusal precision",
        "refusal recall",
    ] {
        assert_eq!(
            outcome(&case, name),
            "the target returned no answer",
            "{name}"
        );
    }
    for name in ["cited", "citation AP"] {
        assert_eq!(
            outcome(&case, name),
            "the target returned no citations",
            "{name}"
        );
    }
    let missing = &case.result.output().unwrap().missing;
    assert_eq!(missing, &[Missing::Answer, Missing::Citations]);
}

#[tokio::test]
async fn an_empty_list_of_citations_and_an_empty_answer_are_measured() {
    let case = answer(reply(json!({"answer": "", "citations": []}))).await;
    assert_eq!(outcome(&case, "cited"), "false");
    assert_eq!(outcome(&case, "equivalent"), "false");
    assert_eq!(outcome(&case, "token F1"), "0");
}

#[tokio::test]
async fn the_flag_of_a_reply_decides_whether_it_refuses_and_else_its_sentence() {
    let refused =
        |value| async move { answer(reply(value)).await.result.output().unwrap().refused };
    assert!(refused(json!({"answer": "I don't know."})).await);
    assert!(!refused(json!({"answer": "I don't know.", "refused": false})).await);
    assert!(refused(json!({"answer": "No comment.", "refused": true})).await);
    assert!(refused(json!({"refused": true})).await);
}

#[tokio::test]
async fn a_reply_without_answer_and_documents_fails_in_both_experiments() {
    let used = reply(json!({"usage": {"input_tokens": 5, "output_tokens": 1}}));
    let null = reply(json!({"answer": null}));
    assert_eq!(null.answer, Some(serde_json::Value::Null));
    let ranked = rank(used.clone(), IdenticalIds::Keep).await;
    let answered = answer(used).await;
    let unanswered = answer(null).await;
    for failure in [
        ranked.result.failure(),
        answered.result.failure(),
        unanswered.result.failure(),
    ] {
        let failure = failure.unwrap();
        assert_eq!(
            failure.message,
            "the target's reply has neither an answer nor documents"
        );
        assert_eq!(failure.class, Some(FailureClass::Content));
    }
    assert_eq!(
        answered.metrics.get("input tokens"),
        Some(&5.0),
        "it was paid for all the same"
    );
}

#[tokio::test]
async fn an_answer_that_is_no_text_fails_with_its_beginning() {
    let case = answer(reply(json!({"answer": {"text": "in May"}}))).await;
    let message = &case.result.failure().unwrap().message;
    assert_eq!(
        message,
        r#"the target's answer is an object, not a text: {"text":"in May"}"#
    );
    let number = answer(reply(json!({"answer": 12}))).await;
    assert_eq!(number.result.output().unwrap().text, "12");
}

/// The report of one question for each reply's documents.
async fn report_of(replies: [&[&str]; 2]) -> Report<Retrieval> {
    let measures: Vec<Measure> = vec!["R@3".parse().unwrap()];
    let mut reports = Vec::new();
    for documents in replies {
        let dataset = retrieval::dataset("demo", [question()], measures.clone()).unwrap();
        let system = system(Reply {
            documents: Some(ids(documents)),
            ..Reply::default()
        });
        let task = retrieval_task(system, IdenticalIds::Keep);
        reports.push(Experiment::new(dataset, task).run().await);
    }
    let [mut one, other] = <[_; 2]>::try_from(reports).unwrap();
    one.cases.extend(other.cases);
    one
}

fn recalls(report: &Report<Retrieval>) -> Vec<String> {
    let cases = report.cases.iter();
    cases.map(|case| outcome(case, "R@3")).collect()
}

#[tokio::test]
async fn rank_measures_are_undefined_if_no_document_of_the_run_is_in_the_corpus() {
    let mut nowhere = report_of([&["x"], &[]]).await;
    assert_eq!(recalls(&nowhere), ["0", "0"]);
    settle_matches(&mut nowhere);
    let reason = Missing::Matches.reason();
    assert_eq!(recalls(&nowhere), [reason, reason]);

    // Joined with a part that has a document of the corpus, it is measured as everything else.
    let found = report_of([&["d1"], &["y"]]).await;
    nowhere.cases.extend(found.cases.clone());
    settle_matches(&mut nowhere);
    assert_eq!(recalls(&nowhere), ["0", "0", "1", "0"]);
    for documents in [[&["x"][..], &["d2"]], [&[], &[]]] {
        let mut report = report_of(documents).await;
        settle_matches(&mut report);
        assert_eq!(recalls(&report), ["0", "0"], "{documents:?}");
    }
}
