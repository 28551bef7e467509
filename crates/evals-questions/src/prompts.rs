//! The prompts that questions are written and checked with.

use evals_rag::Prompt;

/// The prompts that questions are written and checked with. The default ones are part of the program. All have the values `nonce` and
/// `shape`; passages have `number`, `title` and `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionPrompts {
    /// Checks that a question is clear alone, and answers it without documents. Value: `question`.
    pub alone: Prompt,
    /// Answers a user's question. Values: `question`, `passages`.
    pub answer: Prompt,
    /// Checks that the evidence alone answers. Values: `question`, `answer`, `quotes`.
    pub evidence: Prompt,
    /// Looks for further passages that answer. Values: `question`, `answer` (null for an unanswerable one), `passages`.
    pub others: Prompt,
    /// Sends a reply back. Values: `complaint`, `shape`, `nonce`.
    pub repair: Prompt,
    /// Writes a question. Values: `kind`, `asker`, `passages`.
    pub write: Prompt,
}

macro_rules! bundled {
    ($name:literal) => {
        Prompt::new($name, include_str!(concat!("../../../prompts/", $name)))
            .expect("a test fills every bundled prompt in")
    };
}

impl Default for QuestionPrompts {
    fn default() -> Self {
        Self {
            alone: bundled!("question-alone.md.jinja"),
            answer: bundled!("question-answer.md.jinja"),
            evidence: bundled!("question-evidence.md.jinja"),
            others: bundled!("question-others.md.jinja"),
            repair: bundled!("question-repair.md.jinja"),
            write: bundled!("question-write.md.jinja"),
        }
    }
}

impl QuestionPrompts {
    /// All prompts, in alphabetical order of their names.
    pub fn all(&self) -> [&Prompt; 6] {
        let Self {
            alone,
            answer,
            evidence,
            others,
            repair,
            write,
        } = self;
        [alone, answer, evidence, others, repair, write]
    }

    /// The same prompts, each replaced by what `replace` returns.
    ///
    /// # Errors
    ///
    /// The first error of `replace`.
    pub fn try_map<E>(
        self,
        mut replace: impl FnMut(Prompt) -> Result<Prompt, E>,
    ) -> Result<Self, E> {
        Ok(Self {
            alone: replace(self.alone)?,
            answer: replace(self.answer)?,
            evidence: replace(self.evidence)?,
            others: replace(self.others)?,
            repair: replace(self.repair)?,
            write: replace(self.write)?,
        })
    }
}
