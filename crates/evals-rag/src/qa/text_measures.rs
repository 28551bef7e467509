//! Measures of the answer's words. All of them read the answer without citation markers. They are undefined without a
//! reference answer, without an answer and for unanswerable questions, which the refusal measures cover. A refusal of an answerable question
//! scores 0 or fails.

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, Outcome};

use super::{Qa, Reference};
use crate::text::{numbers, rouge, squad};

/// The reference and the answer to compare, or the outcome if there is nothing to compare.
fn compared<'a>(
    name: &str,
    context: &Context<'a, Qa>,
    refused: impl FnOnce(&str) -> Outcome,
) -> Result<(&'a str, String), Outcome> {
    let reference = Reference::text(context.case.expected.as_ref())
        .map_err(|reason| Outcome::undefined(name, reason))?;
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

macro_rules! text_measure {
    ($(#[$documentation:meta])* $measure:ident, $outcome:literal, $kind:ident, $refused:ident, $comparable:expr, |$answer:ident, $reference:ident| $value:expr) => {
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
                let outcome = match compared(Self::OUTCOME, context, $refused) {
                    Ok(($reference, $answer)) => $value,
                    Err(outcome) => outcome,
                };
                Ok(vec![outcome])
            }

            fn concerns(&self, case: &Case<Qa>) -> Option<Vec<Concern>> {
                let reference = Reference::text(case.expected.as_ref()).ok();
                let comparable: fn(&str) -> bool = $comparable;
                let concern = reference.filter(|reference| comparable(reference));
                let concern = concern.map(|_| Concern::$kind(Self::OUTCOME));
                Some(concern.into_iter().collect())
            }
        }
    };
}

text_measure! {
    /// `SQuAD`'s exact match after normalisation: assertion `exact match`. See [`squad::exact_match`].
    ExactMatch, "exact match", assertion, failed, |_| true,
    |answer, reference| Outcome::assertion(Self::OUTCOME, squad::exact_match(&answer, reference))
}

text_measure! {
    /// `SQuAD`'s token F1: score `token F1`. See [`squad::token_f1`].
    TokenF1, "token F1", score, zero, |_| true,
    |answer, reference| Outcome::score(Self::OUTCOME, squad::token_f1(&answer, reference))
}

text_measure! {
    /// ROUGE-L's F1: score `ROUGE-L`. Undefined if the reference has no words of ASCII letters or digits, because ROUGE
    /// compares no others. See [`rouge::rouge_l`].
    RougeL, "ROUGE-L", score, zero, rouge::has_words,
    |answer, reference| if rouge::has_words(reference) {
        Outcome::score(Self::OUTCOME, rouge::rouge_l(&answer, reference))
    } else {
        Outcome::undefined(Self::OUTCOME, "reference without words that ROUGE compares")
    }
}

text_measure! {
    /// Checks whether the answer has every number of the reference, within 1 %: assertion `number match`. Undefined if the
    /// reference has no numbers. See [`numbers::all_found`].
    NumberMatch, "number match", assertion, failed, |reference| !numbers::numbers(reference).is_empty(),
    |answer, reference| match numbers::all_found(&answer, reference) {
        Some(found) => Outcome::assertion(Self::OUTCOME, found),
        None => Outcome::undefined(Self::OUTCOME, "reference without numbers"),
    }
}
