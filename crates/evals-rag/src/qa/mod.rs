//! The question answering experiment: the task answers a question from retrieved passages, and a judge and further
//! evaluators compare the answer with the dataset's reference.

mod answer;
mod breakdown;
mod citation;
mod context;
mod conversations;
mod equivalence;
mod expansion;
mod reference;
mod refusal;
mod task;
#[cfg(test)]
mod tests;
mod text_measures;

use evals::{Case, CaseField, CaseReport, Dataset, DatasetError, Domain, Gist};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::case_fields;
use crate::conversation::{rewritten, said_before};
use crate::question::derived;
use crate::{EvidenceSpan, Missing, Question};

pub use answer::Answer;
pub use breakdown::Breakdown;
pub use citation::{CitationPrecision, CiteRate};
pub use context::Budget;
pub use conversations::WholeConversations;
pub use equivalence::Equivalence;
pub use expansion::{Expansion, Neighbours};
pub use reference::Reference;
pub use refusal::Refusal;
pub use task::{Settings, agent_task, task};
pub use text_measures::{ExactMatch, NumberMatch, RougeL, TokenF1};

/// Evaluations of answers: the input is a question's text.
#[derive(Debug, Clone, Copy)]
pub struct Qa;

impl Domain for Qa {
    type Input = String;
    type Output = Answer;
    type Expected = Reference;
    type Metadata = QuestionMetadata;

    fn group_facts(case: &CaseReport<Self>) -> Vec<(&'static str, Value)> {
        let expected = case.expected.iter();
        let facts = expected
            .flat_map(|expected| derived(&case.input, expected.answerable, &expected.relevant));
        facts.collect()
    }

    fn documents(expected: Option<&Reference>, _metadata: &QuestionMetadata) -> Vec<String> {
        let relevant = expected
            .into_iter()
            .flat_map(|expected| expected.relevant.relevant());
        relevant.map(str::to_owned).collect()
    }

    fn gist(case: &CaseReport<Self>) -> Gist {
        let expected = case.expected.as_ref().filter(|it| it.answerable);
        let answer = case.result.output();
        let searched = answer.filter(|answer| !answer.missing.contains(&Missing::Documents));
        let first_relevant = searched.zip(expected).and_then(|(answer, expected)| {
            case_fields::first_relevant(&answer.ranking, &expected.relevant)
        });
        Gist {
            first_relevant,
            ..Gist::of(Self::case_fields(case), "reference", "answer")
        }
    }

    /// That no answer has exactly the words of its reference is usual, and so is that every answer cites.
    fn says_nothing(measure: &str, pass_rate: f64) -> bool {
        let usual = [(ExactMatch::OUTCOME, 0.0), (CiteRate::OUTCOME, 1.0)];
        usual
            .iter()
            .any(|(name, value)| *name == measure && pass_rate.total_cmp(value).is_eq())
    }

    fn case_fields(case: &CaseReport<Self>) -> Vec<CaseField> {
        let answer = case.result.output();
        let expected = case.expected.as_ref();
        let reference = expected.and_then(|expected| expected.answer.clone());
        let relevant = expected.and_then(|expected| case_fields::judged(&expected.relevant));
        let found = answer.and_then(|answer| case_fields::ranked(&answer.ranking));
        let passages = answer.and_then(|answer| case_fields::passages(&answer.passages));
        let question = CaseField::new("question", case.input.clone());
        let said = said_before(&case.attributes);
        std::iter::once(question)
            .chain(said.map(|text| CaseField::long("conversation", text)))
            .chain(rewritten(&case.attributes))
            .chain(passages.map(|text| CaseField::long("passages", text)))
            .chain(answer.map(|answer| CaseField::new("answer", answer.text.clone())))
            .chain(reference.map(|text| CaseField::new("reference", text)))
            .chain(relevant.map(|text| CaseField::new("relevant", text)))
            .chain(found.map(|text| CaseField::new("found", text)))
            .collect()
    }
}

/// Makes one case from each question. The caller adds the evaluators.
///
/// The dataset does [not pool assertions](Dataset::assertions_apart): equivalence, citing and refusing have no common pass
/// rate.
///
/// # Errors
///
/// Two questions have the same id.
pub fn dataset(
    name: &str,
    questions: impl IntoIterator<Item = Question>,
) -> Result<Dataset<Qa>, DatasetError> {
    let cases = questions.into_iter().map(|mut question| {
        let relevant = question.take_judgements();
        let reference = Reference {
            answer: question.answer,
            accepted: question.accepted,
            answerable: question.answerable,
            relevant,
            evidence: EvidenceSpan::quotes(question.evidence),
            nuggets: question.nuggets,
        };
        Case {
            metadata: QuestionMetadata(question.metadata),
            cluster: question.cluster,
            ..Case::new(question.id, question.text).expecting(reference)
        }
    });
    Ok(Dataset::new(name, cases)?.assertions_apart())
}

/// The [metadata](crate::Question::metadata) of a question. In JSON an object, or `null` if there is none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QuestionMetadata(pub Map<String, Value>);

impl Serialize for QuestionMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (!self.0.is_empty())
            .then_some(&self.0)
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for QuestionMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Option::<Map<String, Value>>::deserialize(deserializer)?;
        let metadata = written.unwrap_or_default();
        // Tells a report of rankings, whose cases have this fact, from one of answers.
        if metadata.contains_key(Question::ANSWERABLE) {
            return Err(D::Error::custom(format!(
                "metadata of question answering has no `{}`",
                Question::ANSWERABLE
            )));
        }
        Ok(Self(metadata))
    }
}
