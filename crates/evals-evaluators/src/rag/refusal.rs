//! `Refusal`: whether an answer refuses exactly when it should.

use async_trait::async_trait;
use evals::{Case, Concern, Context, EvaluatorError, Outcome};
use evals_rag::Missing;
use evals_rag::answering::Refusals;
use evals_rag::qa;
use serde_json::json;

use super::expectation::Expectation;
use super::named::{self, Measured};
use super::output::Output;
use crate::argument::texts;
use crate::{Entry, Parameter, Untyped};

const PRECISION: &str = qa::Refusal::PRECISION;
const RECALL: &str = qa::Refusal::RECALL;

/// Precision and recall of refusals.
#[derive(Debug)]
struct Refusal(Refusals);

/// The entry of `Refusal`.
pub(super) fn entry() -> Entry {
    named::entry(
        "Refusal",
        "Checks whether the output refuses exactly the questions that cannot be answered.",
        [Parameter::optional(
            "sentences",
            json!([]),
            json!({"type": "array", "items": {"type": "string"}}),
            "Sentences that count as refusals, besides the usual ones.",
        )],
        |arguments, _| {
            let sentences = texts(arguments, "sentences", "a list of sentences")?;
            Ok(Refusal(Refusals::new(sentences)))
        },
    )
}

#[async_trait]
impl Measured for Refusal {
    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let undefined = |reason: &str| {
            let both = [PRECISION, RECALL].map(|name| Outcome::undefined(name, reason));
            Ok(Vec::from(both))
        };
        let Some(reference) = Expectation(context.case).reference(&self.0)? else {
            return undefined("not known whether the question is answerable");
        };
        let Some(refused) = Output::of(context).refused(&self.0)? else {
            return undefined(Missing::Answer.reason());
        };
        let precision = if refused {
            Outcome::assertion(PRECISION, !reference.answerable)
        } else {
            Outcome::undefined(PRECISION, "answered")
        };
        let recall = if reference.answerable {
            Outcome::undefined(RECALL, "answerable question")
        } else {
            Outcome::assertion(RECALL, refused)
        };
        Ok(vec![precision, recall])
    }

    /// A failure counts for no precision, which covers only actual refusals.
    fn concerns(&self, case: &Case<Untyped>) -> Vec<Concern> {
        let unanswerable = !Expectation(case).may_be_answerable(&self.0);
        let recall = unanswerable.then(|| Concern::assertion(RECALL));
        recall.into_iter().collect()
    }
}
