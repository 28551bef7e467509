//! The retrieval experiment: a question goes in, a ranking comes out, and rank measures compare it with the
//! judgements.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{
    Case, Context, Dataset, DatasetError, Domain, Evaluator, EvaluatorError, Outcome, TaskError,
    TaskScope,
};
use evals_metrics::{Judgements, Measure};
use futures::future::BoxFuture;

use crate::{Question, Retrieved, Searcher};

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
    Ok(Dataset::new(name, cases)?.evaluator(RankMeasures { measures }))
}

/// Makes the task that asks `searcher` for the `k` best documents and passes its stage timings on.
pub fn task(
    searcher: Arc<dyn Searcher>,
    k: NonZeroUsize,
) -> impl Fn(Arc<Case<Retrieval>>, TaskScope) -> BoxFuture<'static, Result<Retrieved, TaskError>> {
    move |case, scope| {
        let searcher = Arc::clone(&searcher);
        Box::pin(async move {
            let retrieved = searcher.search(&case.input, k.get()).await?;
            for timing in &retrieved.timings {
                match timing.cached {
                    true => scope.cached_timing(&timing.stage, timing.duration),
                    false => scope.timing(&timing.stage, timing.duration),
                }
            }
            Ok(retrieved)
        })
    }
}

/// Scores a ranking by rank measures, one outcome for each.
///
/// A case without judgements, or without relevant ones where a measure needs them, has undefined outcomes with the
/// measure's reason.
#[derive(Debug, Clone)]
pub struct RankMeasures {
    measures: Vec<Measure>,
}

#[async_trait]
impl Evaluator<Retrieval> for RankMeasures {
    fn name(&self) -> &str {
        "rank measures"
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Retrieval>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let unjudged = Judgements::new();
        let judgements = context.case.expected.as_ref().unwrap_or(&unjudged);
        let outcome = |measure: &Measure| match measure.score(judgements, &context.output.ranking) {
            Ok(score) => Outcome::score(measure.to_string(), score),
            Err(undefined) => Outcome::undefined(measure.to_string(), undefined.to_string()),
        };
        Ok(self.measures.iter().map(outcome).collect())
    }
}
