//! `RankMeasures`: how well the documents of an output are ranked.

use async_trait::async_trait;
use evals::{Case, Concern, Context, EvaluatorError, Outcome};
use evals_metrics::Measure;
use evals_rag::answering::Refusals;
use evals_rag::retrieval::rank_outcomes;
use evals_rag::{Missing, Question};
use serde_json::{Value, json};

use super::expectation::Expectation;
use super::output::CaseOutput;
use crate::evaluation::Evaluation;
use crate::{ArgumentError, Arguments, BuildError, Entry, Parameter, Untyped};

/// Scores the documents of an output by rank measures.
#[derive(Debug)]
struct RankMeasures {
    measures: Vec<Measure>,
    refusals: Refusals,
}

/// The entry of `RankMeasures`.
pub(super) fn entry() -> Entry {
    Entry::evaluation(
        "RankMeasures",
        "Scores the documents of an output by rank measures, one outcome each.",
        [Parameter::optional(
            "measures",
            json!(["nDCG@10", "RR@10", "R@10"]),
            json!({"anyOf": [
                {"type": "string"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]}),
            "The measures in the notation of ir-measures; each names its outcome.",
        )],
        |arguments, _| {
            Ok(RankMeasures {
                measures: measures(arguments)?,
                refusals: Refusals::default(),
            })
        },
    )
}

/// The measures that the arguments name, each once.
fn measures(arguments: &Arguments) -> Result<Vec<Measure>, BuildError> {
    let value = arguments.value("measures");
    let wrong = || ArgumentError::new("measures", "a list of measures", value);
    let written = match value {
        Value::String(_) => std::slice::from_ref(value),
        Value::Array(values) if !values.is_empty() => values.as_slice(),
        _ => return Err(wrong().into()),
    };
    let mut measures = Vec::new();
    for value in written {
        let measure: Measure = value.as_str().ok_or_else(wrong)?.parse()?;
        if !measures.contains(&measure) {
            measures.push(measure);
        }
    }
    Ok(measures)
}

impl RankMeasures {
    fn undefined(&self, reason: &str) -> Vec<Outcome> {
        let measures = self.measures.iter();
        measures
            .map(|measure| Outcome::undefined(measure.to_string(), reason))
            .collect()
    }
}

#[async_trait]
impl Evaluation for RankMeasures {
    async fn evaluate(
        &self,
        _name: &str,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let reference = Expectation(context.case).reference(&self.refusals)?;
        if reference
            .as_ref()
            .is_some_and(|reference| !reference.answerable)
        {
            return Ok(self.undefined(Question::UNANSWERABLE));
        }
        let Some(ranking) = CaseOutput::of(context).ranking()? else {
            return Ok(self.undefined(Missing::Documents.reason()));
        };
        let judgements = reference.as_ref().map(|reference| &reference.relevant);
        Ok(rank_outcomes(&self.measures, judgements, &ranking))
    }

    fn concerns(&self, _name: &str, case: &Case<Untyped>) -> Option<Vec<Concern>> {
        let concerned = Expectation(case).has_relevant(&self.refusals);
        let measures = self.measures.iter().filter(|_| concerned);
        Some(
            measures
                .map(|measure| Concern::score(measure.to_string()))
                .collect(),
        )
    }
}
