//! A conversation of a target with a user whom a model plays.

use std::time::Duration;

use evals::{FailureClass, TaskScope};
use evals_models::Message;
use evals_targets::{Conversation, Inputs, Reply, Request, Target, TargetError};
use serde_json::json;

use super::conversations::{Conversations, spoken};
use super::system::record;
use crate::SimulatedUser;

/// The turn at which a conversation failed.
#[derive(Debug, thiserror::Error)]
#[error("turn {turn} of the conversation failed")]
struct FailedTurn {
    turn: usize,
    source: TargetError,
}

const UNOPENED: &str =
    "the simulated user says that the conversation is done before its first message";
const UNANSWERED: &str = "the reply has no answer that the simulated user could read";

impl Conversations {
    /// The attribute of a case that holds how many turns its simulated conversation had.
    pub const TURNS: &str = "turns";
    /// The attribute of a case that says why its simulated conversation ended: [`DONE`](Self::DONE) or [`LIMIT`](Self::LIMIT).
    pub const ENDED: &str = "conversation ended";
    /// The user said that the conversation is done.
    pub const DONE: &str = "done";
    /// It had as many turns as the plan allows.
    pub const LIMIT: &str = "limit";

    /// Lets the user talk to the target, and returns the target's last reply. Each turn has its own request id, under which its reply is recorded.
    pub(super) async fn converse(
        &self,
        user: &SimulatedUser,
        target: &dyn Target,
        first: &Request,
        scope: &TaskScope,
    ) -> Result<Reply, TargetError> {
        let mut said: Vec<Message> = Vec::new();
        let (mut last, mut ended) = (None, Self::LIMIT);
        // How long the target took for all turns.
        let mut took = Duration::ZERO;
        for turn in 1..=self.plan.turns {
            let failed =
                |source: TargetError| TargetError::new(source.class(), FailedTurn { turn, source });
            let unusable = |why| failed(TargetError::new(FailureClass::Content, why));
            let next = user.next(&first.id, &said, scope).await;
            let Some(message) = next.map_err(failed)? else {
                ended = Self::DONE;
                break;
            };
            let id = match turn {
                1 => first.id.clone(),
                _ => format!("{}#{turn}", first.id),
            };
            let request = Request {
                id,
                inputs: Inputs::Question(message.clone()),
                conversation: Some(Conversation {
                    process: last.as_ref().and_then(|it: &Reply| it.process.clone()),
                    ..self.conversation(&first.id, first.repeat, &said)
                }),
                ..first.clone()
            };
            said.push(Message::user(message));
            scope.attribute(Self::HISTORY, json!(said));
            let reply = target.ask(&request).await.map_err(failed)?;
            record(&reply, target, scope);
            took += reply.duration().unwrap_or_default();
            scope.took(took);
            let answer = reply.answer.as_ref().and_then(spoken);
            said.push(Message::assistant(
                answer.ok_or_else(|| unusable(UNANSWERED))?,
            ));
            scope.attribute(Self::TURNS, turn);
            last = Some(reply);
        }
        scope.attribute(Self::ENDED, ended);
        last.ok_or_else(|| TargetError::new(FailureClass::Content, UNOPENED))
    }
}
