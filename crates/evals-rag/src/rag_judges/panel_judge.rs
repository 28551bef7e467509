//! A panel that decides whether an answer is equivalent to a reference.

use std::num::NonZeroU32;

use async_trait::async_trait;
use evals::Vote;
use evals_models::ModelIdentity;
use futures::future::join_all;

use super::panel::Rule;
use crate::judging::{ChatJudge, Judge, JudgeError, Judged, Verdict};

/// Asks several judges, or one several times, and counts their votes on an answer.
///
/// The reason is that of the first judge on the winning side. If any judge fails, the panel fails.
#[derive(Debug, Clone)]
pub struct PanelJudge {
    judges: Vec<ChatJudge>,
    repeats: NonZeroU32,
    rule: Rule,
}

impl PanelJudge {
    /// A panel of `first` and `others`, each of which is asked `repeats` times. The caller [checks](Rule::check) that the votes cannot
    /// end in a tie.
    pub fn new(
        first: ChatJudge,
        others: impl IntoIterator<Item = ChatJudge>,
        repeats: NonZeroU32,
        rule: Rule,
    ) -> Self {
        Self {
            judges: std::iter::once(first).chain(others).collect(),
            repeats,
            rule,
        }
    }
}

#[async_trait]
impl Judge for PanelJudge {
    /// The first judge.
    fn identity(&self) -> &ModelIdentity {
        self.judges[0].identity()
    }

    async fn judge(&self, judged: Judged<'_>) -> Result<Verdict, JudgeError> {
        let repeats = self.repeats.get();
        let before = judged.repeat.saturating_sub(1).saturating_mul(repeats);
        let asked = self
            .judges
            .iter()
            .flat_map(|judge| (1..=repeats).map(move |number| (judge, number)));
        let asked: Vec<_> = asked.collect();
        let verdicts = join_all(asked.iter().map(|(judge, number)| {
            judge.judge(Judged {
                repeat: before.saturating_add(*number),
                ..judged
            })
        }));
        let (mut votes, mut calls, mut failed) = (Vec::new(), Vec::new(), None);
        for ((judge, number), verdict) in asked.iter().zip(verdicts.await) {
            match verdict {
                Ok(verdict) => {
                    calls.extend(verdict.calls);
                    votes.push(Vote {
                        judge: judge.identity().to_string(),
                        repeat: *number,
                        verdict: if verdict.pass { "pass" } else { "fail" }.to_owned(),
                        holds: verdict.pass,
                        reason: Some(verdict.reason),
                    });
                }
                Err(error) => {
                    calls.extend(error.calls);
                    failed = failed.or(Some(error.failure));
                }
            }
        }
        if let Some(failure) = failed {
            return Err(JudgeError { failure, calls });
        }
        let pass = self.rule.holds(votes.iter().map(|vote| vote.holds));
        let winner = votes.iter().find(|vote| vote.holds == pass);
        Ok(Verdict {
            pass,
            reason: winner
                .and_then(|vote| vote.reason.clone())
                .unwrap_or_default(),
            calls,
            votes,
        })
    }
}
