//! The limits of a judge's requests, and how many requests follow from them.

use super::checklist::MOST_ITEMS;
use super::claims::MOST_CLAIMS;
use super::conversation::STATEMENTS;
use super::judged_case::{JudgedCase, TextSize};
use super::judges::BYTES_PER_TOKEN;
use super::measure::JudgedMeasure;
use super::nuggets::{MOST_NUGGETS, NuggetsSize};
use crate::estimate::Calls;

/// The limits of a judge's requests and replies, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgeLimits {
    /// The most tokens of passages, and of items, in one request.
    pub context_tokens: u64,
    /// The limit for the tokens of a reply; `None` if the model sets no limit.
    pub max_tokens: Option<u64>,
}

/// The numbered items that judges decide about: their greatest number, and all of them as one text.
#[derive(Debug, Clone, Copy)]
struct Items(u64, TextSize);

/// The fewest and the most calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRange {
    /// The calls if the texts of every request for verdicts fit into it.
    pub fewest: Calls,
    /// The calls if every text has the most claims, and requests hold as little as their limits allow.
    pub most: Calls,
}

impl CallRange {
    /// No call at all.
    pub const NONE: Self = Self::exactly(Calls::NONE);

    /// So many calls, neither fewer nor more.
    pub const fn exactly(calls: Calls) -> Self {
        Self {
            fewest: calls,
            most: calls,
        }
    }

    /// The calls of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            fewest: self.fewest.plus(&other.fewest),
            most: self.most.plus(&other.most),
        }
    }

    /// The same calls, made this often.
    #[must_use]
    pub fn times(&self, times: u64) -> Self {
        Self {
            fewest: self.fewest.times(times),
            most: self.most.times(times),
        }
    }

    /// `calls` requests, with texts of `tokens` tokens or at most `most` together. Prompts and replies do not count yet.
    pub(super) fn showing(calls: u64, tokens: u64, most: u64) -> Self {
        let texts = |input_tokens| Calls {
            calls,
            input_tokens,
            ..Calls::NONE
        };
        Self {
            fewest: texts(tokens),
            most: texts(most),
        }
    }
}

impl JudgeLimits {
    /// The most bytes of passages, or of items, in one request.
    fn budget(&self) -> u64 {
        let bytes = self.context_tokens.saturating_mul(BYTES_PER_TOKEN as u64);
        bytes.max(1)
    }

    /// The most requests for texts of so many bytes. A request ends where the next text does not fit, so any two that follow each other
    /// hold more than the budget together.
    fn most_requests(&self, bytes: u64) -> u64 {
        if bytes <= self.budget() {
            1
        } else {
            let pairs = bytes.saturating_mul(2) / self.budget();
            pairs.saturating_add(1)
        }
    }

    /// The most requests for these items, which also end after [`MOST_ITEMS`] items. Items that are too long are cut, so there are more.
    fn most_batches(&self, Items(number, text): Items) -> u64 {
        let by_number = number.div_ceil(MOST_ITEMS as u64).max(1);
        match self.most_requests(text.most_bytes) {
            1 => by_number,
            by_size => by_number.saturating_add(by_size.saturating_mul(2)),
        }
    }

    /// The claims of a text. The reply that lists them limits their length.
    fn claims_of(&self, text: TextSize) -> Items {
        let most = match self.max_tokens {
            Some(most) => TextSize::about(0, most),
            None => TextSize {
                most_bytes: text.most_bytes.max(self.budget()),
                ..text
            },
        };
        let claims = TextSize {
            tokens: text.tokens,
            most_tokens: most.most_tokens.max(text.tokens),
            ..most
        };
        Items(MOST_CLAIMS as u64, claims)
    }

    /// Requests about `items`, against passages if there are any. Every request shows `beside`, too.
    fn about(&self, items: Items, passages: Option<TextSize>, beside: TextSize) -> CallRange {
        let Items(number, text) = items;
        if number == 0 {
            return CallRange::NONE;
        }
        let groups = passages.map_or(1, |it| self.most_requests(it.most_bytes));
        let batches = self.most_batches(items);
        let calls = groups.saturating_mul(batches);
        let shown = passages.unwrap_or_default();
        let parts = [
            calls.saturating_mul(beside.most_tokens),
            batches.saturating_mul(shown.most_tokens),
            groups.saturating_mul(text.most_tokens),
        ];
        let most = parts.into_iter().fold(0, u64::saturating_add);
        CallRange {
            most: CallRange::showing(calls, 0, most).most,
            ..CallRange::showing(1, beside.plus(shown).plus(text).tokens, 0)
        }
    }

    /// Requests for the verdicts of `measure` on a case.
    pub(super) fn verdicts(&self, measure: JudgedMeasure, case: &JudgedCase) -> CallRange {
        if !case.is_judged(measure) {
            return CallRange::NONE;
        }
        let none = TextSize::default();
        let [answer, reference] = [case.answer, case.reference].map(Option::unwrap_or_default);
        let (number, passages) = case.passages.unwrap_or_default();
        // Judges are not asked what no passage can hold.
        let in_passages = |items: Items| {
            if number == 0 {
                CallRange::NONE
            } else {
                self.about(items, Some(passages), none)
            }
        };
        match measure {
            JudgedMeasure::Faithfulness => in_passages(self.claims_of(answer)),
            JudgedMeasure::ContextRecall => in_passages(self.claims_of(reference)),
            JudgedMeasure::CitationSupport => in_passages(Items(case.cited_sentences, answer)),
            JudgedMeasure::ContextPrecision => {
                let beside = case.question.plus(reference);
                self.about(Items(number, passages), None, beside)
            }
            JudgedMeasure::AnswerRelevance => {
                self.about(self.claims_of(answer), None, case.question)
            }
            JudgedMeasure::Completeness => {
                let beside = case.question.plus(answer);
                self.about(self.claims_of(case.question), None, beside)
            }
            JudgedMeasure::Nuggets => {
                let items = match case.nuggets {
                    None => return CallRange::NONE,
                    Some(NuggetsSize {
                        given: Some(number),
                        text,
                    }) => Items(number, text),
                    Some(NuggetsSize { given: None, text }) => {
                        Items(MOST_NUGGETS as u64, self.claims_of(text).1)
                    }
                };
                self.about(items, None, case.question.plus(answer))
            }
            JudgedMeasure::Conversation => {
                let statements = Items(STATEMENTS.len() as u64, none);
                self.about(statements, None, case.question.plus(answer))
            }
            JudgedMeasure::FactualCorrectness => {
                let one = self.about(self.claims_of(answer), Some(reference), none);
                one.plus(&self.about(self.claims_of(reference), Some(answer), none))
            }
        }
    }

    /// The same requests with their replies, and with a prompt of `prompt` tokens each.
    pub(super) fn whole(&self, prompt: u64, requests: CallRange) -> CallRange {
        let whole = |it: Calls| Calls {
            calls: it.calls,
            input_tokens: it
                .calls
                .saturating_mul(prompt)
                .saturating_add(it.input_tokens),
            output_tokens: self.max_tokens.map(|most| most.saturating_mul(it.calls)),
        };
        CallRange {
            fewest: whole(requests.fewest),
            most: whole(requests.most),
        }
    }
}
