//! Tests of searchers that rerank, with fake rerankers.

use super::super::*;
use super::most;
use crate::tests::fakes::passage;
use crate::{Passage, Retrieved, SearchError, Searcher, StageTiming};
use async_trait::async_trait;
use evals_metrics::{Ranking, ScoredDocument};
use evals_models::{Failure, ModelIdentity, RerankError, Reranked, Reranker, Usage};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Finds the documents `a` to `e` with falling scores, and one passage of each unless the test sets others.
#[derive(Debug)]
struct Letters {
    passages: Vec<Passage>,
    asked: Mutex<Vec<(usize, u32)>>,
}

impl Letters {
    fn new() -> Arc<Self> {
        Self::with(["a", "b", "c", "d", "e"].map(|id| passage(id, id)))
    }

    fn with(passages: impl IntoIterator<Item = Passage>) -> Arc<Self> {
        Arc::new(Self {
            passages: passages.into_iter().collect(),
            asked: Mutex::default(),
        })
    }
}

#[async_trait]
impl Searcher for Letters {
    fn profile(&self) -> &'static str {
        "letters"
    }

    async fn search(&self, question: &str, k: usize) -> Result<Retrieved, SearchError> {
        self.search_again(question, k, 1).await
    }

    async fn search_again(
        &self,
        _question: &str,
        k: usize,
        repeat: u32,
    ) -> Result<Retrieved, SearchError> {
        self.asked.lock().unwrap().push((k, repeat));
        let documents = ["a", "b", "c", "d", "e"]
            .into_iter()
            .zip([5.0, 4.0, 3.0, 2.0, 1.0]);
        let documents = documents.map(|(id, score)| ScoredDocument {
            id: id.to_owned(),
            score,
        });
        let mut ranking = Ranking::new(documents).unwrap();
        ranking.truncate(k);
        Ok(Retrieved {
            ranking,
            passages: self.passages.clone(),
            timings: vec![StageTiming {
                stage: "bm25".to_owned(),
                duration: Duration::from_millis(5),
                cached: true,
            }],
            ..Retrieved::default()
        })
    }
}

/// Gives each text its prepared score, and records the texts that it read.
#[derive(Debug)]
struct Prepared {
    identity: ModelIdentity,
    scores: BTreeMap<&'static str, f32>,
    read: Mutex<Vec<String>>,
    failure: Option<Failure>,
}

fn prepared<const N: usize>(scores: [(&'static str, f32); N]) -> Arc<Prepared> {
    Arc::new(Prepared {
        identity: ModelIdentity::new("test", "prepared"),
        scores: BTreeMap::from(scores),
        read: Mutex::default(),
        failure: None,
    })
}

#[async_trait]
impl Reranker for Prepared {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    async fn rerank(
        &self,
        _query: &str,
        texts: &[&str],
        _repeat: u32,
    ) -> Result<Reranked, RerankError> {
        if let Some(failure) = self.failure {
            return Err(RerankError {
                model: self.identity.clone(),
                texts: texts.len(),
                failure,
                source: "it is away".into(),
            });
        }
        let mut read = self.read.lock().unwrap();
        read.extend(texts.iter().map(ToString::to_string));
        let scores = texts
            .iter()
            .filter_map(|text| self.scores.get(text).copied());
        Ok(Reranked {
            scores: scores.collect(),
            usage: Some(Usage {
                input_tokens: 30,
                ..Usage::default()
            }),
            service_time: Duration::from_millis(70),
            cached: false,
        })
    }
}

fn searcher(inner: &Arc<Letters>, reranker: &Arc<Prepared>, candidates: usize) -> RerankedSearcher {
    RerankedSearcher::new(
        Arc::clone(inner) as _,
        Arc::clone(reranker) as _,
        most(candidates),
    )
}

fn ids(retrieved: &Retrieved) -> Vec<&str> {
    retrieved.ranking.iter().map(|it| it.id.as_str()).collect()
}

fn texts(retrieved: &Retrieved) -> Vec<&str> {
    retrieved
        .passages
        .iter()
        .map(|it| it.text.as_str())
        .collect()
}

#[tokio::test]
async fn candidates_take_the_rerankers_order_and_the_rest_follows() {
    let (inner, reranker) = (
        Letters::new(),
        prepared([("a", 0.1), ("b", 0.9), ("c", 0.5)]),
    );
    let searcher = searcher(&inner, &reranker, 3);
    assert_eq!(searcher.profile(), "letters+rerank");
    let retrieved = searcher.search("?", 5).await.unwrap();
    assert_eq!(ids(&retrieved), ["b", "c", "a", "d", "e"]);
    assert_eq!(*reranker.read.lock().unwrap(), ["a", "b", "c"]);
    let scores: Vec<f32> = retrieved.ranking.iter().map(|it| it.score).collect();
    assert_eq!(scores[..3], [0.9, 0.5, 0.1]);
    assert!(
        scores.is_sorted_by(|left, right| left > right),
        "{scores:?}"
    );
    assert_eq!(texts(&retrieved), ["b", "c", "a"]);
    assert_eq!(retrieved.passages[0].score.to_bits(), 0.9_f32.to_bits());
    let stages: Vec<_> = retrieved
        .timings
        .iter()
        .map(|it| (it.stage.as_str(), it.duration.as_millis(), it.cached))
        .collect();
    assert_eq!(stages, [("bm25", 5, true), ("rerank", 70, false)]);
    assert_eq!(retrieved.usage.map(|usage| usage.input_tokens), Some(30));
}

#[tokio::test]
async fn fewer_documents_than_candidates_are_chosen_from_all_candidates() {
    let (inner, reranker) = (
        Letters::new(),
        prepared([("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0)]),
    );
    let retrieved = searcher(&inner, &reranker, 4).search("?", 2).await.unwrap();
    assert_eq!(ids(&retrieved), ["d", "c"]);
    assert_eq!(texts(&retrieved), ["d", "c"]);
    assert_eq!(*inner.asked.lock().unwrap(), [(4, 1)]);
}

#[tokio::test]
async fn equal_scores_keep_the_old_order_in_any_tool() {
    let (inner, reranker) = (
        Letters::new(),
        prepared([("a", 0.0), ("b", 0.0), ("c", 7.0), ("d", 0.0), ("e", 7.0)]),
    );
    let retrieved = searcher(&inner, &reranker, 5).search("?", 5).await.unwrap();
    // By ids it would be e, c, d, b, a.
    assert_eq!(ids(&retrieved), ["c", "e", "a", "b", "d"]);
    let scores: Vec<f32> = retrieved.ranking.iter().map(|it| it.score).collect();
    assert_eq!((scores[0], scores[2]), (7.0, 0.0));
    assert!(
        (7.0 - scores[1]).abs() < 1e-4 && scores[4] > -1e-4,
        "{scores:?}"
    );
}

#[tokio::test]
async fn zero_and_minus_zero_scores_tie() {
    let reranker = prepared([("a", -0.0), ("b", 0.0), ("c", -0.0)]);
    let searcher = searcher(&Letters::new(), &reranker, 3);
    let retrieved = searcher.search("?", 3).await.unwrap();
    assert_eq!(ids(&retrieved), ["a", "b", "c"]);
    assert_eq!(texts(&retrieved), ["a", "b", "c"]);
}

#[tokio::test]
async fn a_document_ranks_by_its_best_passage() {
    let of = |document: &str, text: &str| passage(document, text);
    let inner = Letters::with([of("a", "a1"), of("b", "b1"), of("a", "a2"), of("c", "c1")]);
    let reranker = prepared([("a1", 0.2), ("a2", 0.8), ("b1", 0.5), ("c1", 0.5)]);
    let searcher = searcher(&inner, &reranker, 3).passages(3);
    let retrieved = searcher.search("?", 3).await.unwrap();
    assert_eq!(ids(&retrieved), ["a", "b", "c"]);
    assert_eq!(texts(&retrieved), ["a2", "b1", "c1"]);
}

#[tokio::test]
async fn a_title_is_read_with_its_passage() {
    let titled = Passage {
        title: Some("Ferries".to_owned()),
        ..passage("a", "It floats.")
    };
    let reranker = prepared([("Ferries\nIt floats.", 1.0)]);
    let retrieved = searcher(&Letters::with([titled]), &reranker, 1);
    assert_eq!(ids(&retrieved.search("?", 1).await.unwrap()), ["a"]);
}

#[tokio::test]
async fn a_repetition_reaches_the_inner_search() {
    let inner = Letters::new();
    let reranker = prepared([("a", 1.0)]);
    let searcher = searcher(&inner, &reranker, 1);
    searcher.search_again("?", 1, 3).await.unwrap();
    assert_eq!(*inner.asked.lock().unwrap(), [(1, 3)]);
}

#[tokio::test]
async fn too_few_scores_are_an_error() {
    let reranker = prepared([("a", 1.0)]);
    let error = searcher(&Letters::new(), &reranker, 2).search("?", 2).await;
    let error = error.unwrap_err();
    assert_eq!(error.to_string(), "`test:prepared` could not rank 2 texts");
    assert_eq!(
        error.source().unwrap().to_string(),
        "the reranker returned 1 finite score for 2 texts"
    );
    assert_eq!(error.reranking().unwrap().failure, Failure::Terminal);
}

#[tokio::test]
async fn a_terminal_reranker_failure_ends_the_run() {
    use crate::retrieval::{IdenticalIds, dataset, task};
    let question = |id: &str| crate::Question {
        id: id.to_owned(),
        text: "?".to_owned(),
        answer: None,
        accepted: Vec::new(),
        answerable: true,
        relevant: [("b".to_owned(), 1)].into_iter().collect(),
        evidence: Vec::new(),
        nuggets: Vec::new(),
        user: None,
        turn: None,
        cluster: None,
        metadata: serde_json::Map::new(),
    };
    let run = async |failure| {
        let mut reranker = Arc::into_inner(prepared([("a", 1.0), ("b", 2.0)])).unwrap();
        reranker.failure = failure;
        let searcher = searcher(&Letters::new(), &Arc::new(reranker), 2);
        let questions = [question("q1"), question("q2")];
        let dataset = dataset("demo", questions, vec!["RR".parse().unwrap()]).unwrap();
        let task = task(Arc::new(searcher), most(2), IdenticalIds::Keep);
        evals::Experiment::new(dataset, task)
            .concurrency(most(1))
            .run()
            .await
    };
    let report = run(Some(Failure::Terminal)).await;
    assert!(
        report
            .stopped
            .is_some_and(|reason| reason.contains("could not rank 2 texts"))
    );
    let report = run(Some(Failure::Content)).await;
    let failures = report
        .cases
        .iter()
        .map(|case| case.result.failure().unwrap().class);
    assert!(failures.eq([Some(evals::FailureClass::Content); 2]));
    let report = run(None).await;
    assert_eq!(report.cases[0].score("RR"), Some(1.0));
    let metrics = &report.cases[0].metrics;
    assert_eq!(metrics.get("rerank input tokens"), Some(&30.0));
    // 30 tokens for each of two questions, at 10 USD a million.
    let price = crate::prices::Price {
        input: Some(10.0),
        output: None,
    };
    let cost = price.of_cases(&report.cases, crate::Purpose::Reranker);
    assert_eq!(cost, Some(0.0006));
    assert_eq!(report.cases[0].timings[1].stage, "rerank");
}

#[tokio::test]
async fn a_reranker_is_asked_once_in_each_repetition() {
    let inner = prepared([("one", 1.0), ("two", 2.0)]);
    let remembered = RememberedReranker::new(Arc::clone(&inner) as _);
    let ask = |query, texts, repeat| remembered.rerank(query, texts, repeat);
    let first = ask("q", &["one", "two"], 1).await.unwrap();
    assert!(!first.cached);
    let again = ask("q", &["one", "two"], 1).await.unwrap();
    assert!(again.cached);
    assert_eq!((again.scores, again.usage), (first.scores, first.usage));
    assert_eq!(again.service_time, first.service_time, "what it took then");
    assert_eq!(inner.read.lock().unwrap().len(), 2, "nothing read again");
    for (query, texts, repeat) in [
        ("q", &["one", "two"][..], 2),
        ("other", &["one", "two"], 1),
        ("q", &["two", "one"], 1),
    ] {
        assert!(!ask(query, texts, repeat).await.unwrap().cached);
    }
}
