//! The documents, answer, citations and refusal in an output.

use std::collections::{BTreeMap, BTreeSet};

use evals::{CaseReport, Context, EvaluatorError};
use evals_metrics::Ranking;
use evals_models::Finish;
use evals_rag::answering::{Citations, Refusals};
use evals_rag::qa::Answer;
use evals_rag::{Missing, Passage, ranking_in_order};
use serde_json::Value;
use thiserror::Error;

use crate::Untyped;
use crate::judged::id;

/// The parts of a case's output that our measures read.
///
/// An output that is an object is read as a target's reply: `answer`, `documents`, `citations` and `refused`. What it lacks is
/// looked for among the attributes that the task recorded, where the parts of a target's reply are. An output that is a list is
/// the list of documents, unless the task recorded documents. Any other output is the answer.
pub(super) struct CaseOutput<'c> {
    output: &'c Value,
    attributes: &'c BTreeMap<String, Value>,
}

/// A document as judges see it.
pub(super) struct ShownDocument {
    pub(super) title: Option<String>,
    pub(super) text: String,
}

/// A part of an output that cannot be read.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`{part}` must be {wanted}, not `{start}`")]
pub(super) struct PartError {
    part: &'static str,
    wanted: &'static str,
    /// The beginning of what is there.
    start: String,
}

/// Characters of an unreadable value that a message shows.
const SHOWN: usize = 200;

const IDS: &str = "a list of ids, or of objects with an `id`";

impl PartError {
    pub(super) fn new(part: &'static str, wanted: &'static str, value: &Value) -> Self {
        Self {
            part,
            wanted,
            start: value.to_string().chars().take(SHOWN).collect(),
        }
    }
}

impl<'c> CaseOutput<'c> {
    pub(super) fn of(context: &'c Context<'c, Untyped>) -> Self {
        Self {
            output: context.output,
            attributes: &context.recording.attributes,
        }
    }

    /// The ids of the documents, best first: an inner `None` for a document without an id, an outer one if the output has no list of
    /// documents.
    pub(super) fn documents(&self) -> Result<Option<Vec<Option<String>>>, PartError> {
        let Some(listed) = self.listed() else {
            return Ok(None);
        };
        let wrong = || PartError::new("documents", IDS, listed);
        let listed = listed.as_array().ok_or_else(wrong)?;
        let ids = listed.iter().map(|document| match document {
            Value::Object(document) => Ok(document.get("id").and_then(id)),
            other => id(other).map(Some).ok_or_else(wrong),
        });
        ids.collect::<Result<_, _>>().map(Some)
    }

    /// The title and the text of each document, or an inner error that says which one has no text. `None` if the output has no list of
    /// documents.
    pub(super) fn passages(&self) -> Result<Option<Result<Vec<ShownDocument>, String>>, PartError> {
        // Refuses a list of another form.
        if self.documents()?.is_none() {
            return Ok(None);
        }
        let listed = self.listed();
        let listed = listed.and_then(Value::as_array).into_iter().flatten();
        let member = |document: &Value, name: &str| {
            document
                .get(name)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let shown = (1..).zip(listed).map(|(place, document): (usize, &Value)| {
            let text = member(document, "text");
            let text = text.ok_or_else(|| format!("document {place} has no `text`"))?;
            let title = member(document, "title");
            Ok(ShownDocument { title, text })
        });
        Ok(Some(shown.collect()))
    }

    /// The documents as a ranking: the order of the list decides, and of several passages of a document the first one counts. A
    /// document without an id keeps its place.
    pub(super) fn ranking(&self) -> Result<Option<Ranking>, EvaluatorError> {
        let Some(documents) = self.documents()? else {
            return Ok(None);
        };
        let places = (1_usize..).zip(documents);
        let named =
            places.map(|(place, id)| id.unwrap_or_else(|| format!("(no id, place {place})")));
        Ok(Some(ranking_in_order(named)?))
    }

    /// The answer as text; other values than texts are compact JSON.
    pub(super) fn answer(&self) -> Option<String> {
        let answer = match self.output {
            Value::Object(reply) => reply.get("answer")?,
            Value::Array(_) if !self.has_recorded_documents() => return None,
            answer => answer,
        };
        match answer {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        }
    }

    /// The ids of the cited documents, in the order of their first citation: those that the output lists, or those of the
    /// markers in the answer, where `[1]` is the first document. `None` if there is neither a list nor an answer with documents.
    pub(super) fn citations(&self) -> Result<Option<Vec<String>>, PartError> {
        let cited = if let Some(listed) = self.part("citations") {
            let wrong = || PartError::new("citations", IDS, listed);
            let listed = listed.as_array().ok_or_else(wrong)?.iter();
            let ids = listed.map(|cited| id(cited.get("id").unwrap_or(cited)).ok_or_else(wrong));
            ids.collect::<Result<Vec<String>, _>>()?
        } else {
            let (Some(answer), Some(documents)) = (self.answer(), self.documents()?) else {
                return Ok(None);
            };
            let cited = Citations::find(&answer, documents.len())
                .passages
                .into_iter();
            // A document without an id cannot be the right one, but it was cited.
            let id = |number: usize| documents[number - 1].clone();
            cited
                .map(|number| id(number).unwrap_or_else(|| format!("(no id, place {number})")))
                .collect()
        };
        let mut seen = BTreeSet::new();
        let first = cited.into_iter().filter(|id| seen.insert(id.clone()));
        Ok(Some(first.collect()))
    }

    /// Whether the output declines to answer: what it says itself, or whether the answer is a known refusal. `None` if it says
    /// nothing and has no answer.
    pub(super) fn refused(&self, refusals: &Refusals) -> Result<Option<bool>, PartError> {
        match self.part("refused") {
            Some(Value::Bool(refused)) => Ok(Some(*refused)),
            Some(other) => Err(PartError::new("refused", "`true` or `false`", other)),
            None => Ok(self.answer().map(|answer| refusals.refuses(&answer))),
        }
    }

    /// The output as the answer to a question, with these citations. A refusal is an answer, even without words: leaving it out would
    /// reward a system that declines hard questions.
    pub(super) fn as_answer(
        &self,
        refusals: &Refusals,
        citations: Option<Vec<String>>,
    ) -> Result<Answer, EvaluatorError> {
        let text = self.answer();
        let refused = self.refused(refusals)? == Some(true);
        let texts = self.passages().ok().flatten().and_then(Result::ok);
        let missing = [
            (text.is_none() && !refused, Missing::Answer),
            (citations.is_none(), Missing::Citations),
            (texts.is_none(), Missing::Documents),
        ];
        let missing = missing.into_iter().filter(|(is_missing, _)| *is_missing);
        let documents = self.documents().ok().flatten().unwrap_or_default();
        // Documents without texts are counted, too: markers of citations name them.
        let texts = texts.into_iter().flatten().map(Some);
        let texts = texts.chain(std::iter::repeat_with(|| None));
        let passages = documents.into_iter().zip(texts).map(|(id, shown)| {
            let (title, text) = shown.map_or((None, String::new()), |it| (it.title, it.text));
            Passage {
                document: id.unwrap_or_default(),
                title,
                ordinal: 0,
                text,
                score: 0.0,
            }
        });
        Ok(Answer {
            text: text.unwrap_or_default(),
            refused,
            citations: citations.unwrap_or_default(),
            unknown_citations: 0,
            finish: Finish::Unknown,
            passages: passages.collect(),
            ranking: Ranking::new([])?,
            searches: None,
            missing: missing.map(|(_, missing)| missing).collect(),
        })
    }

    /// The list of documents.
    fn listed(&self) -> Option<&Value> {
        match self.output {
            output @ Value::Array(_) if !self.has_recorded_documents() => Some(output),
            _ => self.part("documents"),
        }
    }

    fn has_recorded_documents(&self) -> bool {
        self.attributes
            .get("documents")
            .is_some_and(|documents| !documents.is_null())
    }

    /// A part of the output, or an attribute that the task recorded.
    fn part(&self, name: &str) -> Option<&Value> {
        let own = self.output.as_object().and_then(|reply| reply.get(name));
        let recorded = || self.attributes.get(name);
        let part = own.filter(|part| !part.is_null()).or_else(recorded);
        part.filter(|part| !part.is_null())
    }
}

/// How many distinct documents the output of a case lists, and how many passages, which repeat documents. A document without an id
/// counts as one. `None` if the output has no readable list of documents.
pub fn documents_listed(case: &CaseReport<Untyped>) -> Option<(usize, usize)> {
    let output = CaseOutput {
        output: case.result.output()?,
        attributes: &case.attributes,
    };
    let documents = output.documents().ok()??;
    let named: BTreeSet<&String> = documents.iter().flatten().collect();
    let nameless = documents.iter().filter(|id| id.is_none()).count();
    Some((named.len() + nameless, documents.len()))
}
