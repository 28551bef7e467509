//! One answer of a run, as people label it and as its judge saw it, and the texts of its case.

use evals::{CaseId, CaseReport, Domain};
use evals_evaluators::Untyped;
use evals_rag::qa::{Equivalence, Qa, Reference};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// What a person decides about an answer to a question with a reference.
const EQUIVALENT: &str =
    "Does the answer say what the reference says? More detail is fine; a contradiction is not.";
/// The same for a question that the corpus does not answer.
const REFUSED: &str =
    "The documents do not answer this question. Only an answer that says so passes.";
/// The same for any other output.
const RIGHT: &str = "Is the output right?";

/// A passage that the answerer saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShownPassage {
    /// The id of its document.
    pub document: String,
    /// Its text.
    pub text: String,
}

/// One answer of a run, as people label it and as its judge saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedAnswer {
    /// The id of the case.
    pub id: CaseId,
    /// The repetition of the case, from 1.
    pub repeat: u32,
    /// The name of its case's cluster; `None` if the case is alone.
    pub cluster: Option<String>,
    /// What to decide about the answer.
    pub criterion: String,
    /// What was said before the question, oldest first, each with who said it.
    pub said: Vec<(&'static str, String)>,
    /// The question.
    pub question: String,
    /// The right answer, if the dataset has one.
    pub reference: Option<String>,
    /// The answer.
    pub answer: String,
    /// The passages that the answerer got.
    pub passages: Vec<ShownPassage>,
    /// Whether the judge passes it; `None` if the judge has no verdict.
    pub verdict: Option<bool>,
    /// The judge's reason.
    pub reason: Option<String>,
    /// The digests of question, answer and reference.
    pub digests: Digests,
}

/// SHA-256 of what a label is about, in hexadecimal. A label whose digests no longer match is stale.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Digests {
    /// The input and the reference.
    pub case: String,
    /// The answer; of a verdict on a whole conversation, with everything that was said before.
    pub answer: String,
    /// The prompt of the judge; `None` for a judge without one, and for a run without a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The model of the judge, with its parameters and criteria; `None` for a run without a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
}

/// The texts of a case that people see.
#[derive(Debug)]
pub struct Texts {
    pub(super) criterion: &'static str,
    /// Whether the corpus holds the answer.
    pub(super) answerable: bool,
    pub(super) question: String,
    pub(super) reference: Option<String>,
    pub(super) answer: String,
    pub(super) passages: Vec<ShownPassage>,
}

/// A domain whose outputs people can label.
pub trait Answers: Domain {
    /// The measure of the benchmark's own judge.
    const JUDGED: Option<&'static str>;

    /// The texts of a case; `None` if the task failed.
    fn texts(case: &CaseReport<Self>) -> Option<Texts>;
}

impl Answers for Qa {
    const JUDGED: Option<&'static str> = Some(Equivalence::OUTCOME);

    fn texts(case: &CaseReport<Self>) -> Option<Texts> {
        let answer = case.result.output()?;
        let expected = case.expected.as_ref();
        let passages = answer.passages.iter().map(|passage| ShownPassage {
            document: passage.document.clone(),
            text: passage.text.clone(),
        });
        let answerable = expected.is_none_or(|expected| expected.answerable);
        Some(Texts {
            criterion: if answerable { EQUIVALENT } else { REFUSED },
            answerable,
            question: case.input.clone(),
            reference: Reference::for_judge(expected).ok().map(str::to_owned),
            answer: answer.text.clone(),
            passages: passages.collect(),
        })
    }
}

impl Answers for Untyped {
    const JUDGED: Option<&'static str> = None;

    fn texts(case: &CaseReport<Self>) -> Option<Texts> {
        Some(Texts {
            criterion: RIGHT,
            answerable: true,
            question: written(&case.input),
            reference: case.expected.as_ref().map(written),
            answer: written(case.result.output()?),
            passages: Vec::new(),
        })
    }
}

/// Returns a text unchanged, and any other value as JSON.
fn written(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Object(_) | Json::Array(_) => format!("{value:#}"),
        other => other.to_string(),
    }
}
