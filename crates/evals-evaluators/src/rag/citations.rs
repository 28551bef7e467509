//! `CitationPrecision` and `CiteRate`: whether an answer cites the right documents, and whether it cites any.

use async_trait::async_trait;
use evals::{Case, Concern, Context, EvaluatorError, Outcome};
use evals_metrics::{Judgements, Measure};
use evals_rag::answering::Refusals;
use evals_rag::qa;
use evals_rag::{Missing, Question};

use super::expectation::Expectation;
use super::named::{self, Measured};
use super::output::{Output, in_order};
use crate::{Entry, Untyped};

/// Average precision of the cited documents.
#[derive(Debug, Default)]
struct CitationPrecision(Refusals);

/// Whether any document is cited.
#[derive(Debug, Default)]
struct CiteRate(Refusals);

/// The entries of `CitationPrecision` and `CiteRate`.
pub(super) fn entries() -> [Entry; 2] {
    [
        named::entry(
            "CitationPrecision",
            "Scores the cited documents, in the order of their first citation, by average precision.",
            [],
            |_, _| Ok(CitationPrecision::default()),
        ),
        named::entry(
            "CiteRate",
            "Passes if the answer cites any document.",
            [],
            |_, _| Ok(CiteRate::default()),
        ),
    ]
}

/// The cited documents, or the reason for an undefined measure.
fn cited(
    context: &Context<'_, Untyped>,
    refusals: &Refusals,
) -> Result<Result<Vec<String>, &'static str>, EvaluatorError> {
    if !Expectation(context.case).may_be_answerable(refusals) {
        return Ok(Err(Question::UNANSWERABLE));
    }
    let output = Output::of(context);
    if output.refused(refusals)? == Some(true) {
        return Ok(Err("refused"));
    }
    Ok(output.citations()?.ok_or(Missing::Citations.reason()))
}

#[async_trait]
impl Measured for CitationPrecision {
    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let name = qa::CitationPrecision::OUTCOME;
        let reference = Expectation(context.case).reference(&self.0)?;
        let cited = match cited(context, &self.0)? {
            Ok(cited) => in_order(cited)?,
            Err(reason) => return Ok(vec![Outcome::undefined(name, reason)]),
        };
        let unjudged = Judgements::new();
        let judgements = reference
            .as_ref()
            .map_or(&unjudged, |reference| &reference.relevant);
        let measure = Measure::AVERAGE_PRECISION;
        Ok(vec![match measure.score(judgements, &cited) {
            Ok(score) => Outcome::score(name, score),
            Err(undefined) => Outcome::undefined(name, undefined.to_string()),
        }])
    }

    fn concerns(&self, case: &Case<Untyped>) -> Vec<Concern> {
        let concerned = Expectation(case).has_relevant(&self.0);
        let concern = concerned.then(|| Concern::score(qa::CitationPrecision::OUTCOME));
        concern.into_iter().collect()
    }
}

#[async_trait]
impl Measured for CiteRate {
    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let name = qa::CiteRate::OUTCOME;
        // A reference that cannot be read is a failure, as in the other measures.
        Expectation(context.case).reference(&self.0)?;
        Ok(vec![match cited(context, &self.0)? {
            Ok(cited) => Outcome::assertion(name, !cited.is_empty()),
            Err(reason) => Outcome::undefined(name, reason),
        }])
    }

    fn concerns(&self, case: &Case<Untyped>) -> Vec<Concern> {
        let concerned = Expectation(case).may_be_answerable(&self.0);
        let concern = concerned.then(|| Concern::assertion(qa::CiteRate::OUTCOME));
        concern.into_iter().collect()
    }
}
