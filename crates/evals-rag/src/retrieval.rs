//! The retrieval experiment: a question goes in, a ranking comes out, and rank measures compare it with the
//! judgements.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{
    Case, Context, Dataset, DatasetError, Domain, Evaluator, EvaluatorError, Outcome, TaskError,
    TaskScope,
};
use evals_metrics::{Judgements, Measure, Ranking, RankingError, Undefined, score_all};
use futures::future::BoxFuture;

use crate::{Question, Retrieved, SearchError, Searcher, stage};

/// Evaluations of rankings: the input is a question's text, the expectation its judged documents.
#[derive(Debug, Clone, Copy)]
pub struct Retrieval;

impl Domain for Retrieval {
    type Input = String;
    type Output = Retrieved;
    type Expected = Judgements;
    type Metadata = ();
}

/// Makes one case of each question, all measured by `measures`.
///
/// # Errors
///
/// Two questions with the same id.
pub fn dataset(
    name: &str,
    questions: impl IntoIterator<Item = Question>,
    measures: Vec<Measure>,
) -> Result<Dataset<Retrieval>, DatasetError> {
    let cases = questions
        .into_iter()
        .map(|question| Case::new(question.id, question.text).expecting(question.relevant));
    Ok(Dataset::new(name, cases)?.evaluator(RankMeasures::new(measures)))
}

/// What becomes of a document that has the question's own id.
///
/// In collections such as Arguana questions are documents of the corpus themselves. They would be found first and are
/// never judged relevant, so the published figures leave them out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdenticalIds {
    /// It is a document like any other.
    Keep,
    /// It does not count as found; the next document takes its place.
    LeaveOut,
}

/// Makes the task that asks `searcher` for the `k` best documents and passes its stage timings on.
///
/// The timings move from the output to the report, which keeps them apart from what repeats to the byte.
pub fn task(
    searcher: Arc<dyn Searcher>,
    k: NonZeroUsize,
    identical: IdenticalIds,
) -> impl Fn(Arc<Case<Retrieval>>, TaskScope) -> BoxFuture<'static, Result<Retrieved, TaskError>> {
    move |case, scope| {
        let searcher = Arc::clone(&searcher);
        Box::pin(async move {
            let depth = match identical {
                IdenticalIds::Keep => k.get(),
                IdenticalIds::LeaveOut => k.get().saturating_add(1),
            };
            let searched = searcher.search_again(&case.input, depth, scope.repeat());
            let mut retrieved = searched.await.map_err(SearchError::of_task)?;
            // Before anything can fail: these stages are done, whatever becomes of their result.
            stage::record(&mut retrieved, &scope);
            match identical {
                IdenticalIds::Keep => Ok(retrieved),
                IdenticalIds::LeaveOut => Ok(without(retrieved, case.id.as_str(), k.get())?),
            }
        })
    }
}

/// The first `k` documents other than `id`, and the passages of those.
fn without(retrieved: Retrieved, id: &str, k: usize) -> Result<Retrieved, RankingError> {
    let others = retrieved.ranking.into_iter();
    let ranking = Ranking::new(others.filter(|document| document.id != id).take(k))?;
    let kept: HashSet<&str> = ranking
        .iter()
        .map(|document| document.id.as_str())
        .collect();
    let mut passages = retrieved.passages;
    passages.retain(|passage| kept.contains(passage.document.as_str()));
    Ok(Retrieved {
        ranking,
        passages,
        timings: retrieved.timings,
        usage: retrieved.usage,
    })
}

/// Scores a ranking by rank measures, one outcome for each.
///
/// A case without judgements, or without relevant ones where a measure needs them, has undefined outcomes with the
/// measure's reason.
#[derive(Debug, Clone)]
pub struct RankMeasures {
    measures: Vec<Measure>,
}

impl RankMeasures {
    /// An evaluator of these measures, whose outcomes have their order and names.
    pub fn new(measures: Vec<Measure>) -> Self {
        Self { measures }
    }
}

#[async_trait]
impl Evaluator<Retrieval> for RankMeasures {
    fn name(&self) -> &'static str {
        "rank measures"
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Retrieval>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let unjudged = Judgements::new();
        let judgements = context.case.expected.as_ref().unwrap_or(&unjudged);
        let scores = score_all(&self.measures, judgements, &context.output.ranking);
        let outcome = |(measure, score): (&Measure, Result<f64, Undefined>)| match score {
            Ok(score) => Outcome::score(measure.to_string(), score),
            Err(undefined) => Outcome::undefined(measure.to_string(), undefined.to_string()),
        };
        Ok(self.measures.iter().zip(scores).map(outcome).collect())
    }
}

#[cfg(test)]
mod tests {
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
                usage: None,
            })
        }
    }

    fn question(id: &str, text: &str, relevant: &[&str]) -> Question {
        Question {
            id: id.to_owned(),
            text: text.to_owned(),
            answer: None,
            answerable: true,
            relevant: relevant
                .iter()
                .map(|document| ((*document).to_owned(), 1))
                .collect(),
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
    fn a_document_with_the_questions_id_makes_room_for_the_next() {
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
    fn passages_are_those_of_the_ranked_documents() {
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
    fn without_relevant_documents_a_measure_is_undefined_with_a_reason() {
        let report = run(question("q1", "text", &[]), 3, IdenticalIds::Keep);
        let outcome = report.cases[0].outcome("RR").unwrap();
        assert_eq!(outcome.value, evals::Value::Undefined);
        assert_eq!(outcome.reason.as_deref(), Some("no relevant documents"));
    }

    #[test]
    fn stage_timings_reach_the_report_and_cached_ones_stay_apart() {
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
}
