//! Measures of the answer's words. All of them read the answer without citation markers. They are undefined without a
//! reference answer, without an answer and for unanswerable questions, which the refusal measures cover. A refusal of an answerable question
//! scores 0 or fails.

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, Outcome};

use super::{Qa, Reference};
use crate::text::{numbers, rouge, squad};

/// The reference and the answer to compare, or the outcome if there is nothing to compare.
///
/// The reference decides first: a measure that cannot compare it is undefined for every answer, refusals included.
fn compared<'a>(
    name: &str,
    context: &Context<'a, Qa>,
    incomparable: fn(&str) -> Option<&'static str>,
    refused: impl FnOnce(&str) -> Outcome,
) -> Result<(&'a str, String), Outcome> {
    let reference = Reference::text(context.case.expected.as_ref())
        .map_err(|reason| Outcome::undefined(name, reason))?;
    if let Some(reason) = incomparable(reference) {
        return Err(Outcome::undefined(name, reason));
    }
    if let Some(reason) = context.output.unanswered() {
        return Err(Outcome::undefined(name, reason));
    }
    if context.output.refused {
        return Err(refused(name).because("refused"));
    }
    Ok((reference, context.output.plain()))
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
                    Ok(($reference, $answer)) => $value,
                    Err(outcome) => outcome,
                };
                Ok(vec![outcome])
            }

            fn concerns(&self, case: &Case<Qa>) -> Option<Vec<Concern>> {
                let reference = Reference::text(case.expected.as_ref()).ok();
                let concern = reference.filter(|reference| $incomparable(reference).is_none());
                let concern = concern.map(|_| Concern::$kind(Self::OUTCOME));
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
