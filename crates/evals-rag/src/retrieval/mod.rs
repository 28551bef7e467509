//! The retrieval experiment: a question goes in, a ranking comes out, and rank measures compare it with the
//! judgements.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{
    Case, Concern, Context, Dataset, DatasetError, Domain, Evaluator, EvaluatorError, Outcome,
    TaskError, TaskScope,
};
use evals_metrics::{Judgements, Measure, Ranking, RankingError, Undefined, score_all};
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::{Question, Retrieved, SearchError, Searcher};

/// Evaluations of rankings: the input is a question's text, the expectation its judged documents.
#[derive(Debug, Clone, Copy)]
pub struct Retrieval;

impl Domain for Retrieval {
    type Input = String;
    type Output = Retrieved;
    type Expected = Judgements;
    type Metadata = QuestionFacts;

    fn mean_title(measure: &str) -> Option<String> {
        mean_title(measure)
    }
}

/// What a dataset knows about a question besides its judgements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<WrittenFacts>")]
pub struct QuestionFacts {
    /// Whether the corpus holds the answer; see [`Question::answerable`](crate::Question::answerable).
    pub answerable: bool,
}

impl Default for QuestionFacts {
    fn default() -> Self {
        Self { answerable: true }
    }
}

/// The facts as reports hold them; `null` in those that hold none.
#[derive(Deserialize)]
struct WrittenFacts {
    answerable: bool,
}

impl From<Option<WrittenFacts>> for QuestionFacts {
    fn from(written: Option<WrittenFacts>) -> Self {
        written.map_or_else(Self::default, |WrittenFacts { answerable }| Self {
            answerable,
        })
    }
}

/// What the mean of a rank measure is called where that is not the name of the measure: `MRR@5` for `RR@5`. `None` for any
/// other text than the canonical name of such a measure.
pub fn mean_title(measure: &str) -> Option<String> {
    let parsed: Measure = measure.parse().ok()?;
    let title = parsed.mean_title();
    (parsed.to_string() == measure && title != measure).then_some(title)
}

/// Makes one case of each question, all measured by `measures`. Questions that the corpus does not answer are searched like
/// any other, and measured by none.
///
/// # Errors
///
/// Two questions with the same id.
pub fn dataset(
    name: &str,
    questions: impl IntoIterator<Item = Question>,
    measures: Vec<Measure>,
) -> Result<Dataset<Retrieval>, DatasetError> {
    let cases = questions.into_iter().map(|mut question| {
        let judgements = question.take_judgements();
        let facts = QuestionFacts {
            answerable: question.answerable,
        };
        Case {
            metadata: facts,
            ..Case::new(question.id, question.text).expecting(judgements)
        }
    });
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
            retrieved.record(&scope);
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
/// measure's reason. Of a question that the corpus does not answer all are undefined, with [`Question::UNANSWERABLE`].
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
        if !context.case.metadata.answerable {
            let undefined =
                |measure: &Measure| Outcome::undefined(measure.to_string(), Question::UNANSWERABLE);
            return Ok(self.measures.iter().map(undefined).collect());
        }
        let unjudged = Judgements::new();
        let judgements = context.case.expected.as_ref().unwrap_or(&unjudged);
        let scores = score_all(&self.measures, judgements, &context.output.ranking);
        let outcome = |(measure, score): (&Measure, Result<f64, Undefined>)| match score {
            Ok(score) => Outcome::score(measure.to_string(), score),
            Err(undefined) => Outcome::undefined(measure.to_string(), undefined.to_string()),
        };
        Ok(self.measures.iter().zip(scores).map(outcome).collect())
    }

    fn concerns(&self, case: &Case<Retrieval>) -> Option<Vec<Concern>> {
        (!case.metadata.answerable).then(Vec::new)
    }
}
