//! What happens to a request whose batch is over.

use evals_models::Failure;

use crate::chat::RawReply;
use crate::openai::batch::error::BatchError;
use crate::openai::batch::output::OutputLine;
use crate::openai::batch::status::State;
use crate::openai::batch::submission::cause;
use crate::openai::batch::waiting::{Cause, Waiting};
use crate::openai::chat::{InBatch, OpenAiChat};
use crate::traffic::{AttemptError, Refused};

/// In how many batches a request may meet a temporary failure.
const ATTEMPTS: u32 = 3;
/// In how many batches a request may expire, and in how many its line may be missing.
const PATIENCE: u32 = 2;

/// What happens to a request whose batch is over.
pub(super) enum Fate {
    Reply(RawReply),
    /// It goes into another batch.
    Again,
    /// Somebody cancelled its batch before it was answered.
    Cancelled(Cause),
    Failed(Cause),
}

impl Fate {
    /// The fate of a request with this line in the output of `batch`, which ended in `state`.
    pub(super) fn of(
        waiting: &mut Waiting,
        line: Option<OutputLine>,
        (state, batch): (State, &str),
        chat: &OpenAiChat,
    ) -> Self {
        let Some(line) = line else {
            return Self::without_line(waiting, state, batch);
        };
        if let Some(response) = &line.response {
            let dialect = waiting.sent.unwrap_or_else(|| chat.dialect());
            let (status, body) = (response.status_code, &response.body);
            return match chat.read_in_batch(status, body, &waiting.request, dialect) {
                InBatch::Reply(reply) => Self::Reply(reply),
                InBatch::Conceded => Self::Again,
                InBatch::Failed(error) => Self::failed(waiting, error),
            };
        }
        match line.code() {
            Some("batch_expired") => Self::expired(waiting, batch),
            Some("batch_cancelled") => Self::cancelled(batch),
            _ => {
                let error = serde_json::json!({"error": line.error});
                Self::failed(waiting, chat.server.refused_inside(&error))
            }
        }
    }

    fn without_line(waiting: &mut Waiting, state: State, batch: &str) -> Self {
        match state {
            State::Expired => Self::expired(waiting, batch),
            State::Cancelled => Self::cancelled(batch),
            State::Completed | State::Failed | State::UnderWay => {
                waiting.rounds.missing += 1;
                Self::bounded(waiting.rounds.missing, PATIENCE, || {
                    let batch = batch.to_owned();
                    Cause::new(Failure::Transient, BatchError::Missing { batch })
                })
            }
        }
    }

    fn expired(waiting: &mut Waiting, batch: &str) -> Self {
        waiting.rounds.expired += 1;
        Self::bounded(waiting.rounds.expired, PATIENCE, || {
            let batch = batch.to_owned();
            Cause::new(Failure::Terminal, BatchError::Expired { batch })
        })
    }

    fn cancelled(batch: &str) -> Self {
        let batch = batch.to_owned();
        let cancelled = BatchError::Cancelled { batch };
        Self::Cancelled(Cause::new(Failure::Terminal, cancelled))
    }

    fn failed(waiting: &mut Waiting, error: AttemptError) -> Self {
        if error.failure != Failure::Transient {
            return Self::Failed(cause(error));
        }
        waiting.rounds.failed += 1;
        Self::bounded(waiting.rounds.failed, ATTEMPTS, || {
            let source = Refused::new(error.source);
            let batches = ATTEMPTS;
            Cause::new(Failure::Transient, BatchError::Attempts { batches, source })
        })
    }

    /// Another batch, or the failure once there were `most`.
    fn bounded(rounds: u32, most: u32, failure: impl FnOnce() -> Cause) -> Self {
        if rounds < most {
            Self::Again
        } else {
            Self::Failed(failure())
        }
    }
}
