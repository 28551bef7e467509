//! Measures of the answer's words. All of them read the answer without citation markers. They are undefined without a
//! reference answer, without an answer and for unanswerable questions, which the refusal measures cover. A refusal of an answerable question
//! scores 0 or fails.

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, Outcome, Value};

use super::{Qa, Reference};
use crate::text::{numbers, rouge, squad};

/// The right answers and the answer to compare with them, or the outcome if there is nothing to compare.
///
/// The right answers decide first: a measure that can compare none of them is undefined for every answer, refusals included.
fn compared<'a>(
    name: &str,
    context: &Context<'a, Qa>,
    incomparable: fn(&str) -> Option<&'static str>,
    refused: impl FnOnce(&str) -> Outcome,
) -> Result<(Vec<&'a str>, String), Outcome> {
    let references = comparable(context.case.expected.as_ref(), incomparable)
        .map_err(|reason| Outcome::undefined(name, reason))?;
    if let Some(reason) = context.output.unanswered() {
        return Err(Outcome::undefined(name, reason));
    }
    if context.output.refused {
        return Err(refused(name).because("refused"));
    }
    Ok((references, context.output.plain()))
}

/// The right answers that a measure can compare; at least one.
fn comparable(
    reference: Option<&Reference>,
    incomparable: fn(&str) -> Option<&'static str>,
) -> Result<Vec<&str>, &'static str> {
    let mut references = Reference::texts(reference)?;
    let reason = incomparable(references[0]);
    references.retain(|it| incomparable(it).is_none());
    match reason.filter(|_| references.is_empty()) {
        Some(reason) => Err(reason),
        None => Ok(references),
    }
}

/// The best of the outcomes of one answer, one for each right answer, as in the scripts of `SQuAD` and Natural Questions.
fn best(outcomes: impl Iterator<Item = Outcome>) -> Option<Outcome> {
    let height = |outcome: &Outcome| match &outcome.value {
        Value::Score(score) => *score,
        Value::Assertion(passes) => f64::from(u8::from(*passes)),
        _ => f64::NEG_INFINITY,
    };
    // Of equals the first, which is that of the reference.
    outcomes.reduce(|best, next| {
        if height(&next) > height(&best) {
            next
        } else {
            best
        }
    })
}

fn zero(name: &str) -> Outcome {
    Outcome::score(name, 0.0)
}

fn failed(name: &str) -> Outcome {
    Outcome::assertion(name, false)
}

/// Every reference can be compared.
fn never(_: &str) -> Option<&'static str> {
    None
}

fn without_words(reference: &str) -> Option<&'static str> {
    (!rouge::has_words(reference)).then_some("reference without words that ROUGE compares")
}

fn without_numbers(reference: &str) -> Option<&'static str> {
    let is_without = numbers::numbers(reference).is_empty();
    is_without.then_some("reference without numbers")
}

macro_rules! text_measure {
    ($(#[$documentation:meta])* $measure:ident, $outcome:literal, $kind:ident, $refused:ident, $incomparable:ident, |$answer:ident, $reference:ident| $value:expr) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy, Default)]
        pub struct $measure;

        impl $measure {
            /// The name of its outcome.
            pub const OUTCOME: &str = $outcome;
        }

        #[async_trait]
        impl Evaluator<Qa> for $measure {
            fn name(&self) -> &'static str {
                Self::OUTCOME
            }

            async fn evaluate(&self, context: &Context<'_, Qa>) -> Result<Vec<Outcome>, EvaluatorError> {
                let outcome = match compared(Self::OUTCOME, context, $incomparable, $refused) {
                    Ok((references, $answer)) => best(references.into_iter().map(|$reference| $value)),
                    Err(outcome) => Some(outcome),
                };
                Ok(outcome.into_iter().collect())
            }

            fn concerns(&self, case: &Case<Qa>) -> Option<Vec<Concern>> {
                let references = comparable(case.expected.as_ref(), $incomparable);
                let concern = references.ok().map(|_| Concern::$kind(Self::OUTCOME));
                Some(concern.into_iter().collect())
            }
        }
    };
}

text_measure! {
    /// `SQuAD`'s exact match after normalisation: assertion `exact match`. See [`squad::exact_match`].
    ExactMatch, "exact match", assertion, failed, never,
    |answer, reference| Outcome::assertion(Self::OUTCOME, squad::exact_match(&answer, reference))
}

text_measure! {
    /// `SQuAD`'s token F1: score `token F1`. See [`squad::token_f1`].
    TokenF1, "token F1", score, zero, never,
    |answer, reference| Outcome::score(Self::OUTCOME, squad::token_f1(&answer, reference))
}

text_measure! {
    /// ROUGE-L's F1: score `ROUGE-L`. Undefined if the reference has no words of ASCII letters or digits, because ROUGE
    /// compares no others. See [`rouge::rouge_l`].
    RougeL, "ROUGE-L", score, zero, without_words,
    |answer, reference| Outcome::score(Self::OUTCOME, rouge::rouge_l(&answer, reference))
}

text_measure! {
    /// Checks whether the answer has every number of the reference, within 1 %: assertion `number match`. Undefined if the
    /// reference has no numbers. See [`numbers::all_found`].
    NumberMatch, "number match", assertion, failed, without_numbers,
    |answer, reference| match numbers::all_found(&answer, reference) {
        Some(found) => Outcome::assertion(Self::OUTCOME, found),
        None => Outcome::undefined(Self::OUTCOME, without_numbers(reference).unwrap_or_default()),
    }
}
