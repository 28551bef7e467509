//! The prompts that questions are written and checked with.

use evals_rag::Prompt;

/// The prompts that questions are written and checked with. All have the values `nonce` and `shape`; passages have `number`, `title` and `text`.
///
/// | prompt | what it does | values |
/// |---|---|---|
/// | `alone` | checks that a question is clear alone, and answers it without documents | `question` |
/// | `answer` | answers a user's question | `question`, `passages` |
/// | `evidence` | checks that the evidence alone answers | `question`, `answer`, `quotes` |
/// | `others` | looks for further passages that answer | `question`, `answer` (null for an unanswerable one), `passages` |
/// | `repair` | sends a reply back | `complaint`, `shape`, `nonce` |
/// | `write` | writes a question | `kind`, `asker`, `passages` |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionPrompts([Prompt; 6]);

macro_rules! bundled {
    ($name:literal) => {
        Prompt::new(
            concat!("question-", $name, ".md.jinja"),
            include_str!(concat!("../../../prompts/question-", $name, ".md.jinja")),
        )
        .expect("a test fills every bundled prompt in")
    };
}

impl Default for QuestionPrompts {
    /// The prompts that are part of the program.
    fn default() -> Self {
        Self([
            bundled!("alone"),
            bundled!("answer"),
            bundled!("evidence"),
            bundled!("others"),
            bundled!("repair"),
            bundled!("write"),
        ])
    }
}

impl QuestionPrompts {
    /// All prompts, in alphabetical order of their names.
    pub fn all(&self) -> &[Prompt; 6] {
        &self.0
    }

    /// The same prompts, each replaced by what `replace` returns.
    ///
    /// # Errors
    ///
    /// The first error of `replace`.
    pub fn try_map<E>(
        mut self,
        mut replace: impl FnMut(Prompt) -> Result<Prompt, E>,
    ) -> Result<Self, E> {
        for prompt in &mut self.0 {
            *prompt = replace(prompt.clone())?;
        }
        Ok(self)
    }

    /// The prompt of this name in the table.
    ///
    /// # Panics
    ///
    /// The table has no such name.
    pub fn named(&self, name: &str) -> &Prompt {
        let file = format!("question-{name}.md.jinja");
        let mut prompts = self.0.iter();
        let prompt = prompts.find(|prompt| prompt.name() == file);
        prompt.expect("only names of the table are asked for")
    }
}
