//! The known facts about a case before judges see it.

use super::material::CitedSentence;
use super::measure::JudgedMeasure;
use super::nuggets::{NuggetBank, NuggetsSize};
use crate::missing::Missing;
use crate::qa::{Answer, Reference};

/// The size of a text that may not exist yet. Tokens are estimates, because a tokenizer other than the judge's counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextSize {
    /// Its tokens, as far as they can be foreseen.
    pub tokens: u64,
    /// The most tokens that it may have.
    pub most_tokens: u64,
    /// The most bytes that it may have.
    pub most_bytes: u64,
}

/// The facts on which the number of calls for a case depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedCase {
    /// Whether the documents contain the answer.
    pub answerable: bool,
    /// The question, behind what was said before it.
    pub question: TextSize,
    /// The reference, where there is one.
    pub reference: Option<TextSize>,
    /// The facts of a good answer; `None` if nothing has them.
    pub nuggets: Option<NuggetsSize>,
    /// Whether it ends a conversation of which the system got the earlier turns.
    pub ends_conversation: bool,
    /// The answer; `None` if the system gave no answer.
    pub answer: Option<TextSize>,
    /// Whether the answer is known to refuse.
    pub refused: bool,
    /// The most sentences that cite passages.
    pub cited_sentences: u64,
    /// The most passages, and all of them with their titles as one text; `None` if it is known that they cannot be judged.
    pub passages: Option<(u64, TextSize)>,
}

impl TextSize {
    /// The most bytes of a token that an estimate assumes where no text is known yet. A token of English text has about four.
    pub const MOST_BYTES: u64 = 8;

    /// The size of a known text. `count` counts its tokens.
    pub fn of(text: &str, count: &dyn Fn(&str) -> u64) -> Self {
        let tokens = count(text);
        Self {
            tokens,
            most_tokens: tokens,
            most_bytes: text.len() as u64,
        }
    }

    /// A text of about `tokens` tokens and at most `most` tokens, which have at most [`MOST_BYTES`](Self::MOST_BYTES) bytes each.
    pub fn about(tokens: u64, most: u64) -> Self {
        let most_tokens = most.max(tokens);
        Self {
            tokens,
            most_tokens,
            most_bytes: most_tokens.saturating_mul(Self::MOST_BYTES),
        }
    }

    /// Both texts as one.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            most_tokens: self.most_tokens.saturating_add(other.most_tokens),
            most_bytes: self.most_bytes.saturating_add(other.most_bytes),
        }
    }
}

impl JudgedCase {
    /// The most cited sentences that an estimate assumes of an answer that does not exist yet.
    pub const MOST_SENTENCES: u64 = 100;

    /// The facts about an answer that exists, to a question behind what was said before it. `count` counts the tokens of a text.
    pub fn of(
        (question, ends_conversation): (&str, bool),
        expected: Option<&Reference>,
        answer: &Answer,
        count: &dyn Fn(&str) -> u64,
    ) -> Self {
        let size = |text: &str| TextSize::of(text, count);
        let passages = answer.passages.iter();
        let texts = passages.map(|it| {
            let title = it.title.as_deref().map(size).unwrap_or_default();
            size(&it.text).plus(title)
        });
        let texts = texts.fold(TextSize::default(), TextSize::plus);
        let number = answer.passages.len();
        let listed = !answer.missing.contains(&Missing::Documents);
        let reference = expected.and_then(|expected| expected.answer.as_deref());
        Self {
            answerable: expected.is_none_or(|expected| expected.answerable),
            question: size(question),
            reference: reference.map(size),
            nuggets: expected
                .and_then(NuggetBank::of_reference)
                .map(|bank| bank.size(count)),
            ends_conversation,
            answer: match answer.unanswered() {
                Some(_) => None,
                None => Some(size(&answer.plain())),
            },
            refused: answer.refused,
            cited_sentences: CitedSentence::all(&answer.text, number).len() as u64,
            passages: listed.then_some((number as u64, texts)),
        }
    }

    /// Whether judges are asked for `measure`, unless the answer refuses without being known to.
    pub(super) fn is_judged(&self, measure: JudgedMeasure) -> bool {
        let is_judged_refused = measure.judges_conversations();
        let answered = self.answer.is_some() && (is_judged_refused || !self.refused);
        (self.answerable || measure.judges_unanswerable())
            && (self.reference.is_some() || !measure.needs_reference())
            && (self.ends_conversation || !measure.judges_conversations())
            && (self.nuggets.is_some() || !measure.needs_nuggets())
            && (answered || !measure.needs_answer())
            && (self.passages.is_some() || !measure.needs_passages())
    }

    /// The texts beside a rubric that an answer is graded by; `None` if it is not.
    pub(super) fn graded(&self, sees_reference: bool) -> Option<TextSize> {
        let texts = self.question.plus(self.answer?);
        Some(if sees_reference {
            texts.plus(self.reference?)
        } else {
            texts
        })
    }
}
