use serde::{Deserialize, Serialize};

/// What a dataset knows of a question besides its judgements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<WrittenFacts>")]
pub struct QuestionFacts {
    /// Whether the corpus holds the answer; see [`Question::answerable`](crate::Question::answerable).
    pub answerable: bool,
}

impl Default for QuestionFacts {
    fn default() -> Self {
        Self { answerable: true }
    }
}

/// The facts as reports hold them; `null` in those that hold none.
#[derive(Deserialize)]
struct WrittenFacts {
    answerable: bool,
}

impl From<Option<WrittenFacts>> for QuestionFacts {
    fn from(written: Option<WrittenFacts>) -> Self {
        written.map_or_else(Self::default, |WrittenFacts { answerable }| Self {
            answerable,
        })
    }
}
