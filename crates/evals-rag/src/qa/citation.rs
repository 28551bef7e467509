//! The evaluators of citations.

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, Outcome};
use evals_metrics::{Judgements, Measure};

use super::Qa;
use crate::{Missing, Question, ranking_in_order};

/// The reason for undefined citation measures of a refusal, which has nothing to cite.
const REFUSED: &str = "refused";

/// Whether the question has documents to cite.
fn is_answerable(case: &Case<Qa>) -> bool {
    let expected = case.expected.as_ref();
    expected.is_none_or(|expected| expected.answerable)
}

/// The reason for undefined citation measures, if they are undefined.
fn unmeasured(context: &Context<'_, Qa>) -> Option<&'static str> {
    if !is_answerable(context.case) {
        return Some(Question::UNANSWERABLE);
    }
    if context.output.refused {
        return Some(REFUSED);
    }
    let missing = context.output.missing.contains(&Missing::Citations);
    missing.then(|| Missing::Citations.reason())
}

/// Measures the ranking of cited documents, in the order of their first citation: score `citation AP`.
///
/// It is the average precision against the documents judged relevant, like `AP` in the retrieval benchmark. 0 for an answer
/// without citations; undefined for an unanswerable question, for a refusal and without relevant documents.
#[derive(Debug, Clone, Copy, Default)]
pub struct CitationPrecision;

impl CitationPrecision {
    /// The name of its outcome.
    pub const OUTCOME: &str = "citation AP";
}

#[async_trait]
impl Evaluator<Qa> for CitationPrecision {
    fn name(&self) -> &'static str {
        Self::OUTCOME
    }

    async fn evaluate(&self, context: &Context<'_, Qa>) -> Result<Vec<Outcome>, EvaluatorError> {
        if let Some(reason) = unmeasured(context) {
            return Ok(vec![Outcome::undefined(Self::OUTCOME, reason)]);
        }
        let unjudged = Judgements::new();
        let expected = context.case.expected.as_ref();
        let judgements = expected.map_or(&unjudged, |expected| &expected.relevant);
        let measure = Measure::AVERAGE_PRECISION;
        let cited = ranking_in_order(context.output.citations.iter().cloned())?;
        let score = measure.score(judgements, &cited);
        Ok(vec![match score {
            Ok(score) => Outcome::score(Self::OUTCOME, score),
            Err(undefined) => Outcome::undefined(Self::OUTCOME, undefined.to_string()),
        }])
    }

    fn concerns(&self, case: &Case<Qa>) -> Option<Vec<Concern>> {
        let expected = case.expected.as_ref();
        let relevant = expected.is_some_and(|expected| {
            expected.answerable && expected.relevant.relevant().next().is_some()
        });
        let concern = relevant.then(|| Concern::score(Self::OUTCOME));
        Some(concern.into_iter().collect())
    }
}

/// Checks whether an answer cites any existing passage: assertion `cited`, whose mean is the cite rate. Undefined for an
/// unanswerable question and for a refusal.
#[derive(Debug, Clone, Copy, Default)]
pub struct CiteRate;

impl CiteRate {
    /// The name of its outcome.
    pub const OUTCOME: &str = "cited";
}

#[async_trait]
impl Evaluator<Qa> for CiteRate {
    fn name(&self) -> &'static str {
        Self::OUTCOME
    }

    async fn evaluate(&self, context: &Context<'_, Qa>) -> Result<Vec<Outcome>, EvaluatorError> {
        if let Some(reason) = unmeasured(context) {
            return Ok(vec![Outcome::undefined(Self::OUTCOME, reason)]);
        }
        let cited = !context.output.citations.is_empty();
        Ok(vec![Outcome::assertion(Self::OUTCOME, cited)])
    }

    /// A failed task counts as an answer, not as a refusal.
    fn concerns(&self, case: &Case<Qa>) -> Option<Vec<Concern>> {
        let concern = is_answerable(case).then(|| Concern::assertion(Self::OUTCOME));
        Some(concern.into_iter().collect())
    }
}
