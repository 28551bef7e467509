//! The facts of a case about the right answer.

use evals::Case;
use evals_metrics::Judgements;
use evals_rag::Nugget;
use evals_rag::answering::Refusals;
use evals_rag::qa::Reference;
use serde_json::Value;

use super::output::PartError;
use crate::Untyped;
use crate::judged::{judgements, member};

/// The facts of a case about the right answer.
///
/// The expected output is the reference answer if it is a text or a number, and otherwise may be an object with `answer`,
/// `relevant`, `nuggets` and `answerable`. What it lacks is looked for in the metadata. `relevant` is a list of ids, or an object of ids and
/// grades; an expected output that has this form itself is taken for it.
pub(super) struct Expectation<'c>(pub(super) &'c Case<Untyped>);

const JUDGED: &str = "a list of ids, or an object of ids and whole-number grades";

impl Expectation<'_> {
    /// The facts as a reference. `None` if nothing says whether the question can be answered.
    ///
    /// `answerable` decides. Without it, a reference answer that is a known refusal makes the question unanswerable, and any
    /// other reference answer or a list of relevant documents makes it answerable.
    pub(super) fn reference(&self, refusals: &Refusals) -> Result<Option<Reference>, PartError> {
        let answer = self.answer();
        let relevant = self.relevant()?;
        let nuggets = self.nuggets()?;
        let answerable = match self.member("answerable") {
            Some(Value::Bool(answerable)) => Some(*answerable),
            Some(other) => return Err(PartError::new("answerable", "`true` or `false`", other)),
            None => match &answer {
                Some(answer) => Some(!refusals.refuses(answer)),
                None => relevant.is_some().then_some(true),
            },
        };
        Ok(answerable.map(|answerable| Reference {
            answer,
            accepted: Vec::new(),
            answerable,
            relevant: relevant.unwrap_or_default(),
            evidence: Vec::new(),
            nuggets,
        }))
    }

    /// Whether the question can be answered and has relevant documents.
    pub(super) fn has_relevant(&self, refusals: &Refusals) -> bool {
        let reference = self.reference(refusals).ok().flatten();
        reference.is_some_and(|reference| {
            reference.answerable && reference.relevant.relevant().next().is_some()
        })
    }

    /// The question: a text, or the member `question` or `query` of an object. Other inputs are compact JSON.
    pub(super) fn question(&self) -> String {
        let input = &self.0.input;
        let question = input.get("question").or_else(|| input.get("query"));
        match question.unwrap_or(input) {
            Value::String(text) => text.clone(),
            _ => input.to_string(),
        }
    }

    fn answer(&self) -> Option<String> {
        let answer = match self.0.expected.as_ref() {
            Some(Value::String(text)) => return Some(text.clone()),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => return Some(value.to_string()),
            _ => self.member("answer")?,
        };
        match answer {
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    fn relevant(&self) -> Result<Option<Judgements>, PartError> {
        if let Some(relevant) = self.member("relevant") {
            let wrong = || PartError::new("relevant", JUDGED, relevant);
            return judgements(relevant).ok_or_else(wrong).map(Some);
        }
        Ok(self.0.expected.as_ref().and_then(judgements))
    }

    fn nuggets(&self) -> Result<Vec<Nugget>, PartError> {
        let Some(nuggets) = self.member("nuggets") else {
            return Ok(Vec::new());
        };
        let wanted = "a list of texts or of objects with `text` and `vital`";
        serde_json::from_value(nuggets.clone())
            .map_err(|_| PartError::new("nuggets", wanted, nuggets))
    }

    /// A member of the expected output or of the metadata.
    fn member(&self, name: &str) -> Option<&Value> {
        member(self.0.expected.as_ref(), &self.0.metadata, name)
    }
}
