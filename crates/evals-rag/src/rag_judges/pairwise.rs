//! Pairwise comparison: the answers of a run against those of another, in both orders.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, CaseId, Concern, Context, Evaluator, EvaluatorError, Evidence, Outcome, Vote};
use evals_models::{ChatRequest, ReplySchema};
use minijinja::context;
use serde::Deserialize;
use serde_json::json;

use super::judges::RagJudges;
use crate::call::{self, Purpose};
use crate::judging::{Ballot, Inquiry, JudgeError, JudgeFailure, Shown, Wanted, parse_object};
use crate::qa::{Qa, Reference};
use crate::{Call, Prompt, PromptError};

/// Asks judges which of two answers to a question is better: that of the case, or another one to the same question.
///
/// Every pair is shown in both orders. The label `preference` is `win` if the case's answer is better in both, `loss` if the other one is,
/// and `tie` otherwise: a winner that depends on the order is none. The evidence holds the winner of each order; of several votes, a
/// winner needs those that the panel's rule asks for. The calls are recorded under the names of [`Purpose::Judge`].
///
/// Undefined without another answer. Two equal answers are a tie without a request.
#[derive(Debug, Clone)]
pub struct Pairwise {
    judges: Arc<RagJudges>,
    others: Arc<BTreeMap<(CaseId, u32), String>>,
}

/// Who wins in one order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Winner {
    This,
    Other,
    Tie,
}

impl Winner {
    const ALL: [Self; 3] = [Self::This, Self::Other, Self::Tie];

    /// The word in evidence.
    fn word(self) -> &'static str {
        match self {
            Self::This => "this",
            Self::Other => "other",
            Self::Tie => "tie",
        }
    }
}

/// The answer that a reply prefers, by its place in the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Preferred {
    reason: String,
    place: Option<PreferredPlace>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PreferredPlace {
    First,
    Second,
    Neither,
}

#[derive(Deserialize)]
struct WrittenPreference {
    reason: String,
    winner: serde_json::Value,
}

impl Preferred {
    fn parse(object: &str) -> Option<Self> {
        let WrittenPreference { reason, winner } = parse_object(object)?;
        let word = match &winner {
            serde_json::Value::String(word) => word.trim().to_lowercase(),
            other => other.to_string(),
        };
        Some(Self {
            reason: reason.trim().to_owned(),
            place: match word.as_str() {
                "1" => Some(PreferredPlace::First),
                "2" => Some(PreferredPlace::Second),
                "tie" => Some(PreferredPlace::Neither),
                _ => None,
            },
        })
    }

    /// The winner, if the case's answer was shown `first` or second.
    fn winner(&self, first: bool) -> Winner {
        match (self.place, first) {
            (Some(PreferredPlace::First), true) | (Some(PreferredPlace::Second), false) => {
                Winner::This
            }
            (Some(PreferredPlace::Second), true) | (Some(PreferredPlace::First), false) => {
                Winner::Other
            }
            (Some(PreferredPlace::Neither) | None, _) => Winner::Tie,
        }
    }
}

impl Wanted for Preferred {
    const KEY: &'static str = "winner";

    fn agrees(&self, other: &Self) -> bool {
        self.place.is_some() && self.place == other.place
    }

    fn complaint(&self) -> Option<String> {
        let is_none = self.place.is_none();
        is_none.then(|| "`winner` is not one of `1`, `2`, `tie`".to_owned())
    }
}

/// A question with two answers.
#[derive(Clone, Copy)]
struct AnswerPair<'a> {
    question: &'a str,
    reference: Option<&'a str>,
    this: &'a str,
    other: &'a str,
    repeat: u32,
}

impl Pairwise {
    /// The name of its outcome.
    pub const OUTCOME: &str = "preference";

    /// Compares with the answers `others`, by case and repetition, without citation markers.
    pub fn new(judges: Arc<RagJudges>, others: BTreeMap<(CaseId, u32), String>) -> Self {
        Self {
            judges,
            others: Arc::new(others),
        }
    }

    async fn compare(
        &self,
        pair: AnswerPair<'_>,
        calls: &mut Vec<Call>,
    ) -> Result<Outcome, JudgeFailure> {
        let mut evidence = Vec::new();
        for first in [true, false] {
            evidence.push(self.ask(pair, first, calls).await?);
        }
        let [one, other] = [&evidence[0].verdict, &evidence[1].verdict];
        let (preference, reason) = match (one.as_str(), other.as_str()) {
            ("this", "this") => ("win", evidence[0].reason.clone()),
            ("other", "other") => ("loss", evidence[0].reason.clone()),
            ("tie", "tie") => ("tie", evidence[0].reason.clone()),
            _ => ("tie", Some("the winner depends on the order".to_owned())),
        };
        let outcome = Outcome::label(Self::OUTCOME, preference);
        let outcome = outcome.because(reason.unwrap_or_default());
        Ok(outcome.on_evidence(evidence))
    }

    /// The winner of one order.
    async fn ask(
        &self,
        pair: AnswerPair<'_>,
        first: bool,
        calls: &mut Vec<Call>,
    ) -> Result<Evidence, JudgeFailure> {
        let AnswerPair {
            question,
            this,
            other,
            ..
        } = pair;
        let shown = Shown::new(&[question, pair.reference.unwrap_or_default(), this, other]);
        let request = request(&self.judges.prompts().pair, pair, first, shown.nonce())?;
        let inquiry = Inquiry {
            request,
            shown: &shown,
            parse: &Preferred::parse,
            wanted: "a text `reason` and a text `winner`",
            shape: format!(
                r#"{{"reason": "<one or two sentences>", "id": "{}", "winner": "<1, 2 or tie>"}}"#,
                shown.nonce()
            ),
            repair: Prompt::verdict_repair(),
        };
        let panel = self.judges.panel();
        let ballots = panel.ask(pair.repeat, &inquiry, calls).await?;
        let winners: Vec<Winner> = ballots.iter().map(|it| it.verdict.winner(first)).collect();
        let won = |wanted: Winner| {
            let votes = winners.iter().map(|winner| *winner == wanted);
            panel.counted_by().holds(votes)
        };
        let winner = Winner::ALL.into_iter().find(|winner| won(*winner));
        let winner = winner.unwrap_or(Winner::Tie);
        Ok(evidence(winner, &ballots, first))
    }
}

/// The winner of one order, with the votes if there are several.
fn evidence(winner: Winner, ballots: &[Ballot<Preferred>], first: bool) -> Evidence {
    let deciding = ballots.iter().find(|it| it.verdict.winner(first) == winner);
    let vote = |ballot: &Ballot<Preferred>| {
        let winner = ballot.verdict.winner(first);
        Vote {
            judge: ballot.judge.clone(),
            repeat: ballot.repeat,
            verdict: winner.word().to_owned(),
            holds: winner == Winner::This,
            reason: Some(ballot.verdict.reason.clone()),
        }
    };
    let order = if first {
        "this answer first"
    } else {
        "the other answer first"
    };
    Evidence {
        text: order.to_owned(),
        verdict: winner.word().to_owned(),
        holds: winner == Winner::This,
        reason: deciding.map(|ballot| ballot.verdict.reason.clone()),
        votes: if ballots.len() > 1 {
            ballots.iter().map(vote).collect()
        } else {
            Vec::new()
        },
        ..Evidence::default()
    }
}

fn request(
    prompt: &Prompt,
    pair: AnswerPair<'_>,
    first: bool,
    nonce: &str,
) -> Result<ChatRequest, PromptError> {
    let question = pair.question;
    let (first, second) = if first {
        (pair.this, pair.other)
    } else {
        (pair.other, pair.this)
    };
    let prompt = match pair.reference {
        Some(reference) => prompt.render(context! { question, reference, first, second, nonce }),
        None => prompt.render(context! { question, first, second, nonce }),
    }?;
    let schema = ReplySchema::of_object(
        "preference",
        &json!({
            "reason": {"type": "string"},
            "id": {"type": "string"},
            "winner": {"type": "string", "enum": ["1", "2", "tie"]},
        }),
    );
    Ok(ChatRequest::asking(prompt, schema))
}

#[async_trait]
impl Evaluator<Qa> for Pairwise {
    fn name(&self) -> &'static str {
        Self::OUTCOME
    }

    async fn evaluate(&self, context: &Context<'_, Qa>) -> Result<Vec<Outcome>, EvaluatorError> {
        let undefined = |reason: &str| Ok(vec![Outcome::undefined(Self::OUTCOME, reason)]);
        if let Some(reason) = context.output.unanswered() {
            return undefined(reason);
        }
        let key = (context.case.id.clone(), context.repeat);
        let Some(other) = self.others.get(&key) else {
            return undefined("the other run has no answer");
        };
        let this = context.output.plain();
        if this == *other {
            let tie = Outcome::label(Self::OUTCOME, "tie");
            return Ok(vec![tie.because("both answers are the same")]);
        }
        let pair = AnswerPair {
            question: &self.judges.asked(context).text(),
            reference: Reference::for_judge(context.case.expected.as_ref()).ok(),
            this: &this,
            other,
            repeat: context.repeat,
        };
        let mut calls = Vec::new();
        let compared = Box::pin(self.compare(pair, &mut calls)).await;
        call::record(&calls, Purpose::Judge, &context.scope);
        match compared {
            Ok(outcome) => Ok(vec![outcome]),
            Err(failure) => Err(JudgeError::from(failure).of_evaluator()),
        }
    }

    fn concerns(&self, case: &Case<Qa>) -> Option<Vec<Concern>> {
        let known = self.others.keys().any(|(id, _)| *id == case.id);
        Some(
            known
                .then(|| Concern::label(Self::OUTCOME))
                .into_iter()
                .collect(),
        )
    }
}
