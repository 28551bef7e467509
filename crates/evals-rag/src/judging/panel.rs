//! Panels: several judges, or one judge asked several times, and how their votes are counted.

use std::num::NonZeroU32;
use std::sync::Arc;

use evals_models::{ChatModel, ChatRequest, ModelIdentity};
use futures::future::join_all;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Inquiry, JudgeError, JudgeFailure, Wanted};
use crate::Call;

/// The judges that are asked, and how their votes are counted. A panel of one judge that is asked once has one vote.
#[derive(Debug, Clone)]
pub struct Panel {
    members: Vec<Member>,
    repeats: NonZeroU32,
    rule: Rule,
}

#[derive(Debug, Clone)]
struct Member {
    model: Arc<dyn ChatModel>,
    max_tokens: Option<NonZeroU32>,
}

/// When the votes of a panel speak for a verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// If more than half of the votes do.
    #[default]
    Majority,
    /// If all votes do.
    Unanimous,
}

/// A panel cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PanelError {
    /// There are more judges than [`Panel::MOST_JUDGES`].
    #[error(
        "a panel has {} judges at most, and these are {judges}",
        Panel::MOST_JUDGES
    )]
    TooManyJudges {
        /// How many there are.
        judges: usize,
    },
    /// Each judge would be asked more often than [`Panel::MOST_REPEATS`] times.
    #[error(
        "each judge is asked {} times at most, and not {repeats} times",
        Panel::MOST_REPEATS
    )]
    TooManyRepeats {
        /// How often.
        repeats: NonZeroU32,
    },
    /// A majority of an even number of votes can be a tie.
    #[error(
        "a majority needs an odd number of votes, and {judges} × {repeats} are even; add or remove a judge, repeat each an odd number of times, or count with `unanimous`"
    )]
    EvenVotes {
        /// How many judges there are.
        judges: usize,
        /// How often each is asked.
        repeats: NonZeroU32,
    },
}

/// The verdict of one judge in one repetition.
#[derive(Debug)]
pub(crate) struct Ballot<T> {
    pub(crate) judge: String,
    pub(crate) repeat: u32,
    pub(crate) verdict: T,
}

impl Rule {
    /// Checks a panel of `judges` judges, each asked `repeats` times, whose votes are counted by this rule.
    ///
    /// # Errors
    ///
    /// There are too many judges or repeats, or a majority is asked for and the number of votes is even.
    pub fn check(self, judges: usize, repeats: NonZeroU32) -> Result<(), PanelError> {
        if judges > Panel::MOST_JUDGES {
            return Err(PanelError::TooManyJudges { judges });
        }
        if repeats > Panel::MOST_REPEATS {
            return Err(PanelError::TooManyRepeats { repeats });
        }
        let is_even = judges.is_multiple_of(2) || repeats.get().is_multiple_of(2);
        if self == Self::Majority && is_even {
            return Err(PanelError::EvenVotes { judges, repeats });
        }
        Ok(())
    }

    /// Whether the votes speak for a verdict, from whether each does.
    pub(crate) fn holds(self, votes: impl IntoIterator<Item = bool>) -> bool {
        let (mut of, mut given) = (0_usize, 0_usize);
        for vote in votes {
            of += usize::from(vote);
            given += 1;
        }
        match self {
            Self::Majority => of * 2 > given,
            Self::Unanimous => of == given,
        }
    }
}

impl Panel {
    /// The most judges of a panel: reports name each by its number.
    pub const MOST_JUDGES: usize = 9;

    /// The most repeats of each judge: a panel asks for all its votes on an answer at the same time.
    pub const MOST_REPEATS: NonZeroU32 = NonZeroU32::new(25).expect("it is not 0");

    /// A panel of one judge that is asked once. `max_tokens` limits the tokens of a reply, reasoning included; `None` leaves the
    /// model's own limit.
    pub fn new(model: Arc<dyn ChatModel>, max_tokens: Option<NonZeroU32>) -> Self {
        Self {
            members: vec![Member { model, max_tokens }],
            repeats: NonZeroU32::MIN,
            rule: Rule::default(),
        }
    }

    /// Adds a judge.
    #[must_use]
    pub fn member(mut self, model: Arc<dyn ChatModel>, max_tokens: Option<NonZeroU32>) -> Self {
        self.members.push(Member { model, max_tokens });
        self
    }

    /// Asks every judge this often. A model that replies the same to the same prompt, as most do at temperature 0, gives the same
    /// vote each time.
    #[must_use]
    pub fn repeats(mut self, repeats: NonZeroU32) -> Self {
        self.repeats = repeats;
        self
    }

    /// Counts the votes by `rule`. The caller [checks](Rule::check) the number of votes.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rule = rule;
        self
    }

    /// The judges, the first of whom lists claims.
    pub fn judges(&self) -> impl Iterator<Item = &ModelIdentity> {
        self.members.iter().map(|member| member.model.identity())
    }

    /// How many votes are given on each item.
    pub fn votes(&self) -> usize {
        self.members.len() * self.repeats.get() as usize
    }

    pub(crate) fn counted_by(&self) -> Rule {
        self.rule
    }

    /// The first judge.
    pub(super) fn lead_identity(&self) -> &ModelIdentity {
        self.members[0].model.identity()
    }

    /// Asks the first judge alone, in the given repetition of the case.
    pub(crate) async fn lead<T: Wanted>(
        &self,
        repeat: u32,
        inquiry: &Inquiry<'_, T>,
        calls: &mut Vec<Call>,
    ) -> Result<T, JudgeFailure> {
        let reply = self.members[0].ask(self.numbered(repeat, 1), inquiry).await;
        kept(reply, calls)
    }

    /// Asks every judge in every repetition, all at the same time, and returns the ballots in the order of judges and repetitions.
    /// If any of them gives no verdict, there is no result.
    pub(crate) async fn ask<T: Wanted>(
        &self,
        repeat: u32,
        inquiry: &Inquiry<'_, T>,
        calls: &mut Vec<Call>,
    ) -> Result<Vec<Ballot<T>>, JudgeFailure> {
        let asked = self.members.iter().flat_map(|member| {
            let repeats = 1..=self.repeats.get();
            repeats.map(move |number| (member, number))
        });
        let asked: Vec<_> = asked.collect();
        let replies = join_all(
            asked
                .iter()
                .map(|(member, number)| member.ask(self.numbered(repeat, *number), inquiry)),
        );
        let mut ballots = Vec::with_capacity(asked.len());
        let mut failed = None;
        for ((member, number), reply) in asked.iter().zip(replies.await) {
            match kept(reply, calls) {
                Ok(verdict) => ballots.push(Ballot {
                    judge: member.model.identity().to_string(),
                    repeat: *number,
                    verdict,
                }),
                Err(failure) => failed = failed.or(Some(failure)),
            }
        }
        failed.map_or(Ok(ballots), Err)
    }

    /// A different number for each repetition of a judge in each repetition of a case, so that a stored reply serves only one of them.
    fn numbered(&self, repeat: u32, number: u32) -> u32 {
        let before = repeat.saturating_sub(1).saturating_mul(self.repeats.get());
        before.saturating_add(number)
    }
}

impl Member {
    async fn ask<T: Wanted>(
        &self,
        repeat: u32,
        inquiry: &Inquiry<'_, T>,
    ) -> Result<(T, Vec<Call>), JudgeError> {
        let request = ChatRequest {
            repeat,
            max_tokens: self.max_tokens,
            ..inquiry.request.clone()
        };
        inquiry.ask_with(request, &*self.model).await
    }
}

/// Keeps the calls of a reply, whether it holds a verdict or not.
fn kept<T>(
    reply: Result<(T, Vec<Call>), JudgeError>,
    calls: &mut Vec<Call>,
) -> Result<T, JudgeFailure> {
    match reply {
        Ok((verdict, made)) => {
            calls.extend(made);
            Ok(verdict)
        }
        Err(JudgeError {
            failure,
            calls: made,
        }) => {
            calls.extend(made);
            Err(failure)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_majority_is_more_than_half_and_never_a_tie() {
        assert!(Rule::Majority.holds([true, true, false]));
        assert!(!Rule::Majority.holds([true, false]));
        assert!(!Rule::Unanimous.holds([true, true, false]));
        assert!(Rule::Unanimous.holds([true, true]));
        let times = |number| NonZeroU32::new(number).unwrap();
        assert_eq!(Rule::Majority.check(3, times(1)), Ok(()));
        assert_eq!(Rule::Unanimous.check(2, times(2)), Ok(()));
        let error = Rule::Majority.check(1, times(2)).unwrap_err();
        assert!(error.to_string().contains("1 × 2 are even"), "{error}");
    }

    #[test]
    fn the_votes_on_an_answer_have_a_limit() {
        let times = |number| NonZeroU32::new(number).unwrap();
        let message = |judges, repeats| {
            let checked = Rule::Unanimous.check(judges, times(repeats));
            checked.unwrap_err().to_string()
        };
        assert_eq!(Rule::Unanimous.check(9, times(25)), Ok(()));
        assert_eq!(
            message(1, 26),
            "each judge is asked 25 times at most, and not 26 times"
        );
        assert_eq!(
            message(10, 1),
            "a panel has 9 judges at most, and these are 10"
        );
    }
}
