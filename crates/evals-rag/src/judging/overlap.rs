use async_trait::async_trait;
use evals_models::ModelIdentity;

use super::{Judge, JudgeError, Judged, Verdict};
use crate::text::squad;

/// Judges without a language model, by the words that answer and reference share.
///
/// An answer passes if its `SQuAD` token F1 reaches the threshold. Refusals are decided without looking at words: refusing an
/// unanswerable question passes, refusing another one fails, and so does answering an unanswerable one. This is a floor to compare with, not a judge of
/// meaning: "not in Paris" overlaps well with "in Paris".
#[derive(Debug, Clone)]
pub struct OverlapJudge {
    identity: ModelIdentity,
    threshold: f64,
}

impl OverlapJudge {
    /// The threshold of [`Default`].
    pub const THRESHOLD: f64 = 0.5;

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
            pass,
            reason,
            calls: Vec::new(),
        })
    }
}
