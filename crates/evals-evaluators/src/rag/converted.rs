//! Evaluators of question answering for the cases of dataset files.

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, Outcome};
use evals_rag::answering::Refusals;
use evals_rag::qa::{CitationPrecision, CiteRate, Refusal};
use evals_rag::{Missing, Qa};
use serde::Deserialize;
use serde_json::json;

use super::expectation::Expectation;
use super::output::{CaseOutput, PartError};
use crate::evaluation::Evaluation;
use crate::{Entry, Parameter, Untyped};

/// An evaluator that judges the case and the output as a question and its answer.
#[derive(Debug)]
pub(super) struct Converted<E> {
    evaluator: E,
    refusals: Refusals,
    /// Reads the citations, if the evaluator needs them.
    citations: fn(&CaseOutput<'_>) -> Result<Option<Vec<String>>, PartError>,
    version: Option<String>,
}

impl<E> Converted<E> {
    /// An evaluator that needs no citations. `version` is that of its prompt.
    pub(super) fn new(evaluator: E, version: Option<String>) -> Self {
        Self {
            evaluator,
            refusals: Refusals::default(),
            citations: |_| Ok(None),
            version,
        }
    }

    /// An evaluator that reads the texts of the documents. A list that cannot be read is an error.
    pub(super) fn of_texts(evaluator: E, version: String) -> Self {
        Self {
            citations: |output| output.documents().map(|_| None),
            ..Self::new(evaluator, Some(version))
        }
    }

    fn of_citations(evaluator: E) -> Self {
        Self {
            citations: |output| output.citations(),
            ..Self::new(evaluator, None)
        }
    }

    fn case(&self, case: &Case<Untyped>) -> Result<Case<Qa>, PartError> {
        let expectation = Expectation(case);
        Ok(Case {
            expected: expectation.reference(&self.refusals)?,
            ..Case::new(case.id.clone(), expectation.question())
        })
    }
}

#[async_trait]
impl<E: Evaluator<Qa> + 'static> Evaluation for Converted<E> {
    async fn evaluate(
        &self,
        _name: &str,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let output = CaseOutput::of(context);
        let citations = (self.citations)(&output)?;
        let converted = Context {
            case: &self.case(context.case)?,
            output: &output.as_answer(&self.refusals, citations)?,
            repeat: context.repeat,
            duration: context.duration,
            recording: context.recording,
            scope: context.scope.clone(),
        };
        let mut outcomes = self.evaluator.evaluate(&converted).await?;
        // The evaluator sees that there are no texts, and the output says why. Report the reason of the output.
        if let Ok(Some(Err(reason))) = output.passages() {
            let is_unread = |reason: &String| reason == Missing::Documents.reason();
            for outcome in &mut outcomes {
                if outcome.reason.as_ref().is_some_and(is_unread) {
                    outcome.reason = Some(reason.clone());
                }
            }
        }
        Ok(outcomes)
    }

    fn concerns(&self, _name: &str, case: &Case<Untyped>) -> Option<Vec<Concern>> {
        // An expectation that cannot be read says nothing about the right answer.
        let unknown = || Case::new(case.id.clone(), String::new());
        let case = self.case(case).unwrap_or_else(|_| unknown());
        self.evaluator.concerns(&case)
    }

    fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }
}

#[derive(Deserialize)]
struct RefusalArguments {
    sentences: Vec<String>,
}

/// The entries of `CitationPrecision`, `CiteRate` and `Refusal`.
pub(super) fn entries() -> [Entry; 3] {
    [
        Entry::evaluation(
            "CitationPrecision",
            "Scores the cited documents, in the order of their first citation, by average precision.",
            [],
            |_, _| Ok(Converted::of_citations(CitationPrecision)),
        ),
        Entry::evaluation(
            "CiteRate",
            "Passes if the answer cites any document.",
            [],
            |_, _| Ok(Converted::of_citations(CiteRate)),
        ),
        Entry::evaluation(
            "Refusal",
            "Checks whether the output refuses exactly the questions that cannot be answered.",
            [Parameter::optional(
                "sentences",
                json!([]),
                json!({"type": "array", "items": {"type": "string"}}),
                "Sentences that count as refusals, besides the usual ones.",
            )],
            |arguments, _| {
                let RefusalArguments { sentences } = arguments.read()?;
                Ok(Converted {
                    refusals: Refusals::new(sentences),
                    ..Converted::new(Refusal::new(), None)
                })
            },
        ),
    ]
}
