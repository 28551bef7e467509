//! The question answering experiment: the task answers a question from retrieved passages, and a judge and further
//! evaluators compare the answer with the dataset's reference.

mod answer;
mod breakdown;
mod citation;
mod context;
mod equivalence;
mod expansion;
mod metadata;
mod reference;
mod refusal;
mod task;
#[cfg(test)]
mod tests;
mod text_measures;

use evals::{Case, Dataset, DatasetError, Domain};

use crate::Question;

pub use answer::Answer;
pub use breakdown::Breakdown;
pub use citation::{CitationPrecision, CiteRate};
pub use context::Budget;
pub use equivalence::Equivalence;
pub use expansion::{Expansion, Neighbours};
pub use metadata::QuestionMetadata;
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
            answerable: question.answerable,
            relevant,
        };
        Case {
            metadata: QuestionMetadata(question.metadata),
            ..Case::new(question.id, question.text).expecting(reference)
        }
    });
    Ok(Dataset::new(name, cases)?.assertions_apart())
}
