//! A judge without a language model: word overlap with the reference.

use async_trait::async_trait;
use evals_models::ModelIdentity;

use super::{Judge, JudgeError, Judged, Verdict};
use crate::text::squad;

/// Judges without a language model, by the words that answer and reference share.
///
/// An answer passes if its `SQuAD` token F1 reaches the threshold. For refusals, words do not matter: refusing an
/// unanswerable question passes; refusing an answerable one, or answering an unanswerable one, fails. This judge is a
/// baseline, not a judge of meaning: "not in Paris" overlaps well with "in Paris".
#[derive(Debug, Clone)]
pub struct OverlapJudge {
    identity: ModelIdentity,
    threshold: f64,
}

impl OverlapJudge {
    /// The default threshold. It is low because references are often a few words and answers a whole sentence.
    ///
    /// It was measured on the bundled news stories, whose questions have a short and a long answer. Compared with the short
    /// answer, 90 % of the long answers pass, and 2.6 % of the long answers to other questions about the same story. At a
    /// threshold of 0.5, 27 % and none pass.
    pub const THRESHOLD: f64 = 0.15;

    /// Passes answers whose token F1 is at least `threshold`, from 0 to 1.
    pub fn new(threshold: f64) -> Self {
        Self {
            identity: ModelIdentity::new("embedded", "overlap")
                .with_digest(format!("token-f1>={threshold}")),
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
                let f1 = squad::token_f1(judged.answer, judged.reference);
                let pass = f1 >= self.threshold;
                let sign = if pass { '≥' } else { '<' };
                (pass, format!("token F1 {f1:.3} {sign} {}", self.threshold))
            }
        }
    }
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

    async fn verdict(answerable: bool, refused: bool, answer: &str) -> (bool, String) {
        verdict_of(&OverlapJudge::default(), answerable, refused, answer).await
    }

    async fn verdict_of(
        judge: &OverlapJudge,
        answerable: bool,
        refused: bool,
        answer: &str,
    ) -> (bool, String) {
        let judged = Judged {
            question: "?",
            reference: "the city of Paris",
            answerable,
            answer,
            refused,
            repeat: 1,
        };
        let verdict = judge.judge(judged).await.unwrap();
        (verdict.pass, verdict.reason)
    }

    #[tokio::test]
    async fn answers_at_the_threshold_pass() {
        // One common word among 3 and 1: F1 = 2 · 1 / 4; among 3 and 2: 2 · 1 / 5.
        let judge = OverlapJudge::new(0.5);
        assert_eq!(
            verdict_of(&judge, true, false, "Paris").await,
            (true, "token F1 0.500 ≥ 0.5".to_owned())
        );
        assert_eq!(
            verdict_of(&judge, true, false, "Paris, France").await,
            (false, "token F1 0.400 < 0.5".to_owned())
        );
        assert_eq!(judge.identity().digest.as_deref(), Some("token-f1>=0.5"));
    }

    #[tokio::test]
    async fn an_answer_of_a_sentence_passes_by_default() {
        let answer = "The tower was built in Paris, as everybody knows.";
        assert_eq!(
            verdict(true, false, answer).await,
            (true, "token F1 0.182 ≥ 0.15".to_owned())
        );
        assert_eq!(
            verdict(true, false, "Rome").await,
            (false, "token F1 0.000 < 0.15".to_owned())
        );
    }

    #[tokio::test]
    async fn refusals_of_unanswerable_questions_pass() {
        let unanswerable = "unanswerable question";
        let cases = [
            (false, true, true, format!("refused an {unanswerable}")),
            (false, false, false, format!("answered an {unanswerable}")),
            (
                true,
                true,
                false,
                "refused an answerable question".to_owned(),
            ),
        ];
        for (answerable, refused, pass, reason) in cases {
            let verdict = verdict(answerable, refused, "the city of Paris").await;
            assert_eq!(verdict, (pass, reason));
        }
    }
}
