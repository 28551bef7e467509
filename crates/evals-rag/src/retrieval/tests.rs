//! Tests of the retrieval experiment.

use std::time::Duration;

use evals::{Experiment, Report};
use evals_metrics::ScoredDocument;

use super::*;
use crate::{Passage, StageTiming};

/// Finds `q1`, `b`, `a` for every question, in this order, and two passages of each.
#[derive(Debug)]
struct Scripted;

#[async_trait]
impl Searcher for Scripted {
    fn profile(&self) -> &'static str {
        "scripted"
    }

    async fn search(&self, question: &str, k: usize) -> Result<Retrieved, SearchError> {
        if question == "broken" {
            return Err(SearchError::new("the index is gone"));
        }
        let found = [("q1", 3.0), ("b", 2.0), ("a", 1.0)];
        let found = found.map(|(id, score)| ScoredDocument {
            id: id.to_owned(),
            score,
        });
        let ranking = Ranking::new(found.into_iter().take(k)).map_err(SearchError::new)?;
        let passages = ranking.iter().flat_map(|document| {
            [0, 1].map(|ordinal| Passage {
                document: document.id.clone(),
                title: None,
                ordinal,
                text: String::new(),
                score: document.score,
            })
        });
        let timing = |stage: &str, cached| StageTiming {
            stage: stage.to_owned(),
            duration: Duration::from_millis(5),
            cached,
        };
        Ok(Retrieved {
            passages: passages.collect(),
            ranking,
            timings: vec![timing("bm25", false), timing("semantic", true)],
            ..Retrieved::default()
        })
    }
}

fn question(id: &str, text: &str, relevant: &[&str]) -> Question {
    Question {
        id: id.to_owned(),
        text: text.to_owned(),
        answer: None,
        accepted: Vec::new(),
        answerable: true,
        relevant: relevant
            .iter()
            .map(|document| ((*document).to_owned(), 1))
            .collect(),
        evidence: Vec::new(),
        nuggets: Vec::new(),
        user: None,
        turn: None,
        cluster: None,
        metadata: Map::new(),
    }
}

fn run(question: Question, k: usize, identical: IdenticalIds) -> Report<Retrieval> {
    let measures = ["RR", "R@2"].map(|name| name.parse().unwrap());
    let dataset = dataset("demo", [question], measures.to_vec()).unwrap();
    let task = task(Arc::new(Scripted), NonZeroUsize::new(k).unwrap(), identical);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(Experiment::new(dataset, task).run())
}

#[test]
fn rankings_are_measured_against_the_judgements() {
    let report = run(question("q1", "text", &["b", "a"]), 3, IdenticalIds::Keep);
    assert_eq!(report.cases[0].score("RR"), Some(0.5));
    assert_eq!(report.cases[0].score("R@2"), Some(0.5));
}

#[test]
fn a_document_with_the_questions_id_is_replaced_by_the_next() {
    let report = run(
        question("q1", "text", &["b", "a"]),
        2,
        IdenticalIds::LeaveOut,
    );
    assert_eq!(found(&report).0, ["b", "a"]);
    assert_eq!(report.cases[0].score("RR"), Some(1.0));
    assert_eq!(report.cases[0].score("R@2"), Some(1.0));
}

/// The documents of the ranking and of the passages.
fn found(report: &Report<Retrieval>) -> (Vec<&str>, Vec<&str>) {
    let retrieved = report.cases[0].result.output().unwrap();
    let ranking = retrieved.ranking.iter();
    let passages = retrieved.passages.iter();
    (
        ranking.map(|document| document.id.as_str()).collect(),
        passages.map(|passage| passage.document.as_str()).collect(),
    )
}

#[test]
fn passages_belong_to_the_ranked_documents() {
    let leave_out = |id, k| run(question(id, "text", &["b"]), k, IdenticalIds::LeaveOut);
    let report = leave_out("q1", 1);
    assert_eq!(found(&report), (vec!["b"], vec!["b", "b"]));
    let report = leave_out("another", 1);
    assert_eq!(found(&report), (vec!["q1"], vec!["q1", "q1"]));
}

#[test]
fn all_documents_can_be_asked_for() {
    let report = run(
        question("q1", "text", &["b"]),
        usize::MAX,
        IdenticalIds::LeaveOut,
    );
    assert_eq!(found(&report).0, ["b", "a"]);
}

#[test]
fn a_measure_without_relevant_documents_is_undefined_with_a_reason() {
    let report = run(question("q1", "text", &[]), 3, IdenticalIds::Keep);
    let outcome = report.cases[0].outcome("RR").unwrap();
    assert_eq!(outcome.value, evals::Value::Undefined);
    assert_eq!(outcome.reason.as_deref(), Some("no relevant documents"));
}

/// The reasons of all outcomes, each by its measure's name.
fn undefined(report: &Report<Retrieval>) -> Vec<(&str, &str)> {
    let outcomes = report.cases[0].outcomes.iter();
    let undefined = outcomes.filter(|outcome| outcome.value == evals::Value::Undefined);
    undefined
        .map(|outcome| (outcome.name.as_str(), outcome.reason.as_deref().unwrap()))
        .collect()
}

#[test]
fn an_unanswerable_question_is_searched_but_not_measured() {
    let unanswerable = Question {
        answerable: false,
        ..question("q1", "text", &["b", "a"])
    };
    let measures = ["RR", "P@1", "Judged", "R@2"].map(|name| name.parse().unwrap());
    let of = |question: Question| {
        let dataset = dataset("demo", [question], measures.to_vec()).unwrap();
        let task = task(Arc::new(Scripted), NonZeroUsize::MIN, IdenticalIds::Keep);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(Experiment::new(dataset, task).run())
    };
    let report = of(unanswerable.clone());
    let reason = "unanswerable";
    assert_eq!(
        undefined(&report),
        [
            ("RR", reason),
            ("P@1", reason),
            ("Judged", reason),
            ("R@2", reason)
        ]
    );
    let case = &report.cases[0];
    assert_eq!(case.expected, Some(Judgements::new()));
    assert_eq!(case.timings.len(), 2, "the search was timed");
    let summary = report.summary(&evals_metrics::Bootstrap::default());
    let (_, mean) = &summary.scores[0];
    assert_eq!((mean.value, mean.n, mean.excluded[reason]), (None, 0, 1));

    let failed = of(Question {
        text: "broken".to_owned(),
        ..unanswerable
    });
    assert_eq!(
        failed.cases[0].missed[0].outcomes,
        [],
        "the failed search is missing from no measure"
    );
}

#[test]
fn questions_in_reports_without_facts_are_answerable() {
    let read = |text: &str| serde_json::from_str::<QuestionFacts>(text).unwrap();
    assert!(read("null").answerable);
    for answerable in [true, false] {
        let facts = QuestionFacts {
            answerable,
            ..QuestionFacts::default()
        };
        let written = serde_json::to_string(&facts).unwrap();
        assert_eq!(written, format!(r#"{{"answerable":{answerable}}}"#));
        assert_eq!(read(&written), facts);
    }
}

#[test]
fn metadata_stands_beside_the_fact_that_a_question_is_answerable() {
    let mut sports = question("q1", "text", &["b"]);
    sports.metadata.insert("topic".to_owned(), "Sports".into());
    let report = run(sports, 3, IdenticalIds::Keep);
    let facts = &report.cases[0].metadata;
    let written = serde_json::to_string(facts).unwrap();
    assert_eq!(written, r#"{"answerable":true,"topic":"Sports"}"#);
    let read: QuestionFacts = serde_json::from_str(&written).unwrap();
    assert_eq!(read, *facts);
}

#[test]
fn only_rank_measures_have_a_title_for_their_mean() {
    let titles = ["RR@5", "AP", "AP(rel=2)@10"].map(mean_title);
    let wanted = ["MRR@5", "MAP", "MAP(rel=2)@10"].map(str::to_owned);
    assert_eq!(titles, wanted.map(Some));
    for other in [
        "nDCG@10",
        "MRR@5",
        "rr@5",
        "recip_rank",
        "citation AP",
        "RR_2",
    ] {
        assert_eq!(mean_title(other), None, "{other}");
    }
}

#[test]
fn stage_timings_reach_the_report_and_cached_ones_stay_separate() {
    let report = run(question("q1", "text", &["b"]), 3, IdenticalIds::Keep);
    let timings: Vec<_> = report.cases[0]
        .timings
        .iter()
        .map(|timing| (timing.stage.as_str(), timing.cached))
        .collect();
    assert_eq!(timings, [("bm25", false), ("semantic", true)]);
    let retrieved = report.cases[0].result.output().unwrap();
    assert_eq!(retrieved.timings, [], "they are held once");
}

#[test]
fn a_failed_search_is_the_cases_failure() {
    let report = run(question("q1", "broken", &["b"]), 3, IdenticalIds::Keep);
    let failure = report.cases[0].result.failure().unwrap();
    assert_eq!(failure.message, "the index is gone");
}
