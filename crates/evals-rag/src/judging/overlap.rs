//! A judge without a language model: the words and numbers of the reference that the answer has.

use std::sync::LazyLock;

use async_trait::async_trait;
use evals::render::percent;
use evals_models::ModelIdentity;
use regex::Regex;

use super::{Judge, JudgeError, Judged, Verdict};
use crate::call::number;
use crate::text::{content_words, numbers, words};

/// Numbers of list items at the start of a line, and links: neither says whether an answer is right.
static NO_CONTENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^\s*[0-9]{1,2}[.)] |https?://[^\s)]*").expect("the expression is valid")
});

/// Judges without a language model, by the words that answer and reference share.
///
/// An answer passes if it has enough of the reference's words, not counting usual ones such as `the`, and all of the
/// reference's numbers. What else it says does not matter. For refusals, words do not matter: refusing an unanswerable
/// question passes; refusing an answerable one, or answering an unanswerable one, fails. This judge is a baseline, not a judge
/// of meaning: "not in Paris" has the words of "in Paris", a whole page may have those of any reference, and an answer in
/// words of its own fails.
#[derive(Debug, Clone)]
pub struct OverlapJudge {
    identity: ModelIdentity,
    threshold: f64,
}

impl OverlapJudge {
    /// The default threshold: half of the words.
    ///
    /// It was chosen on one half of 200 answers of the extractive answerer, labelled by reading, and checked on the other:
    /// κ is 0.89. The tests compute this, and the same for other rules, from `tests/data/overlap-labels.jsonl`.
    pub const THRESHOLD: f64 = 0.5;

    /// How often the judge erred, at the default threshold, on the labelled answers that the threshold was not chosen on.
    pub const ERRORS: &str = "0 of 89 wrong answers passed, 2 of 11 right ones failed";

    /// Passes answers that have at least this share of the reference's words, from 0 to 1, and all of its numbers.
    pub fn new(threshold: f64) -> Self {
        Self {
            identity: ModelIdentity::new("embedded", "overlap")
                .with_digest(format!("reference-words>={threshold};numbers")),
            threshold,
        }
    }

    fn decide(&self, judged: Judged<'_>) -> (bool, String) {
        match (judged.answerable, judged.refused) {
            (false, refused) => {
                let did = if refused { "refused" } else { "answered" };
                (refused, format!("{did} an unanswerable question"))
            }
            (true, true) => (false, "refused an answerable question".to_owned()),
            (true, false) => {
                let is_enough =
                    |(share, has_numbers): (f64, bool)| has_numbers && share >= self.threshold;
                let of_reference = found(judged.answer, judged.reference);
                let others = judged.accepted.iter();
                let others = others.map(|it| found(judged.answer, it));
                let mut right = std::iter::once(of_reference).chain(others);
                // The first one that passes; if none does, the reason is about the reference.
                let (share, has_numbers) = right.find(|it| is_enough(*it)).unwrap_or(of_reference);
                let has_words = share >= self.threshold;
                let lack = match (has_numbers, has_words) {
                    (true, _) => "",
                    (false, true) => ", but not all its numbers",
                    (false, false) => ", and not all its numbers",
                };
                let reason = format!(
                    "{} of the reference's words ({} needed){lack}",
                    percent(share),
                    percent(self.threshold)
                );
                (has_words && has_numbers, reason)
            }
        }
    }
}

/// The share of the reference's content words that the answer has, and whether it has all its numbers.
pub(super) fn found(answer: &str, reference: &str) -> (f64, bool) {
    let answer = NO_CONTENT.replace_all(answer, " ");
    let reference = NO_CONTENT.replace_all(reference, " ");
    let (given, wanted) = (words(&answer), content_words(&reference));
    let share = if wanted.is_empty() {
        f64::from(u8::from(given.is_empty()))
    } else {
        number(wanted.intersection(&given).count()) / number(wanted.len())
    };
    let has_numbers = numbers::all_found(&answer, &reference).unwrap_or(true);
    (share, has_numbers)
}

impl Default for OverlapJudge {
    fn default() -> Self {
        Self::new(Self::THRESHOLD)
    }
}

#[async_trait]
impl Judge for OverlapJudge {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    async fn judge(&self, judged: Judged<'_>) -> Result<Verdict, JudgeError> {
        let (pass, reason) = self.decide(judged);
        Ok(Verdict {
            votes: Vec::new(),
            pass,
            reason,
            calls: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn verdict_of(
        judge: &OverlapJudge,
        (answerable, refused): (bool, bool),
        answer: &str,
        reference: &str,
    ) -> (bool, String) {
        let judged = Judged {
            question: "?",
            reference,
            accepted: &[],
            answerable,
            answer,
            refused,
            repeat: 1,
        };
        let verdict = judge.judge(judged).await.unwrap();
        (verdict.pass, verdict.reason)
    }

    #[tokio::test]
    async fn one_of_several_right_answers_is_enough() {
        let accepted = ["the old lighthouse of Lund".to_owned(), "a pier".to_owned()];
        let judge = OverlapJudge::default();
        for (answer, pass, reason) in [
            ("An old lighthouse.", true, "66.67 % of"),
            ("Some pier.", true, "100 % of"),
            ("A harbour.", true, "100 % of"),
            ("A boat.", false, "0 % of"),
        ] {
            let judged = Judged {
                question: "?",
                reference: "harbour",
                accepted: &accepted,
                answerable: true,
                answer,
                refused: false,
                repeat: 1,
            };
            let verdict = judge.judge(judged).await.unwrap();
            assert_eq!(verdict.pass, pass, "{answer}");
            assert!(
                verdict.reason.starts_with(reason),
                "{answer}: {}",
                verdict.reason
            );
        }
    }

    #[tokio::test]
    async fn answers_need_half_of_the_words_and_all_numbers() {
        let half = "50 % of the reference's words (50 % needed)";
        let cases = [
            (
                "It stands in Paris, as everybody knows.",
                "the city of Paris",
                true,
                half,
            ),
            (
                "Rome",
                "the city of Paris",
                false,
                "0 % of the reference's words (50 % needed)",
            ),
            (
                "After 58 minutes.",
                "18 minutes",
                false,
                "50 % of the reference's words (50 % needed), but not all its numbers",
            ),
            ("After 18 min.", "18 minutes", true, half),
            // The numbers of a list and those in links are not asked for.
            (
                "Open the page and save.",
                "1. Open the [page](https://a.example/7).\n2. Save.",
                true,
                "100 % of the reference's words (50 % needed)",
            ),
            (
                "No, it is not.",
                "No",
                true,
                "100 % of the reference's words (50 % needed)",
            ),
        ];
        for (answer, reference, pass, reason) in cases {
            let verdict =
                verdict_of(&OverlapJudge::default(), (true, false), answer, reference).await;
            assert_eq!(verdict, (pass, reason.to_owned()), "{answer}");
        }
    }

    #[tokio::test]
    async fn a_threshold_is_part_of_the_identity() {
        let judge = OverlapJudge::new(0.6);
        let verdict = verdict_of(&judge, (true, false), "Paris", "the city of Paris").await;
        assert_eq!(
            verdict,
            (
                false,
                "50 % of the reference's words (60 % needed)".to_owned()
            )
        );
        assert_eq!(
            judge.identity().digest.as_deref(),
            Some("reference-words>=0.6;numbers")
        );
    }

    #[tokio::test]
    async fn refusals_of_unanswerable_questions_pass() {
        let cases = [
            (false, true, true, "refused an unanswerable question"),
            (false, false, false, "answered an unanswerable question"),
            (true, true, false, "refused an answerable question"),
        ];
        for (answerable, refused, pass, reason) in cases {
            let judge = OverlapJudge::default();
            let verdict = verdict_of(&judge, (answerable, refused), "Paris", "Paris").await;
            assert_eq!(verdict, (pass, reason.to_owned()));
        }
    }
}
