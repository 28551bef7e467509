//! The program around batches: it sets them up, decides whether one may be submitted, keeps the replies, and shows how far the batches are.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::{self, Debug};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use evals_models::{ChatModel, ChatReply, ChatRequest};
use serde::{Deserialize, Serialize};

use super::output::BatchCounts;
use crate::chat::raw_reply;
use crate::openai::chat::OpenAiChat;
use crate::tokens;

/// How requests are gathered, submitted and waited for.
#[derive(Clone, Debug)]
pub struct BatchSettings {
    /// The folder of the records of batches. Processes may share it.
    pub folder: PathBuf,
    /// The time in which the server has to complete a batch, as it takes it. Default: `24h`, the only one that `OpenAI` knows.
    pub window: String,
    /// The pause between two questions about the state of a batch. Default: 30 s.
    pub poll_interval: Duration,
    /// A batch is submitted when no request has come for so long, and nothing else is under way that may lead to one. Default: 2 s.
    pub quiet: Duration,
    /// The most requests of a batch. Default: 50,000, `OpenAI`'s limit.
    pub max_requests: NonZeroUsize,
    /// The most bytes of a batch's file. Default: 200 MB, `OpenAI`'s limit.
    pub max_bytes: usize,
    /// Whether requests may go into new batches. Otherwise batches of earlier processes deliver their replies, and every other request is
    /// sent directly: the setting for a program that works without batches and must not pay twice for what an earlier one has submitted.
    /// Default: yes.
    pub submits: bool,
    /// Whether the first request to the model is sent directly, at the full price, so that a wrong key or a field that the model does not
    /// take shows at once and not after hours. Default: yes.
    pub first_direct: bool,
}

impl BatchSettings {
    /// The default settings.
    ///
    /// The limits are those of `OpenAI`'s reference of `POST /v1/batches`: 50,000 requests and 200 MB for each input file.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            window: "24h".to_owned(),
            poll_interval: Duration::from_secs(30),
            quiet: Duration::from_secs(2),
            max_requests: NonZeroUsize::new(50_000).expect("50,000 is not 0"),
            max_bytes: 200_000_000,
            submits: true,
            first_direct: true,
        }
    }
}

/// The size of a batch before it is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchSize {
    /// The number of requests.
    pub requests: usize,
    /// Tokens of all requests: an upper bound, because only the server has the model's tokenizer.
    pub input_tokens: u64,
    /// The most tokens of all replies; `None` if a reply has no limit.
    pub output_tokens: Option<u64>,
}

/// No requests.
impl Default for BatchSize {
    fn default() -> Self {
        Self {
            requests: 0,
            input_tokens: 0,
            output_tokens: Some(0),
        }
    }
}

impl BatchSize {
    /// Adds one request.
    pub(super) fn add(&mut self, chat: &OpenAiChat, request: &ChatRequest) {
        let texts = raw_reply::texts(request);
        self.requests += 1;
        self.input_tokens += texts.iter().map(|text| tokens::at_most(text)).sum::<u64>();
        let written = self.output_tokens.zip(chat.settings.budget(request));
        self.output_tokens = written.map(|(sum, more)| sum.saturating_add(more.into()));
    }
}

/// A step of a batch. Its text is one line without a line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchEvent {
    /// A batch is submitted, or its replies have come.
    Note(String),
    /// Something about a batch that the user should know. The work goes on.
    Warning(String),
    /// The server told the state of the batch. A failed question for the state is a [`Warning`](Self::Warning).
    Waiting {
        /// The model.
        model: String,
        /// The server's name of the batch.
        batch: String,
        /// The server's word for the state of the batch.
        state: String,
        /// How many of the requests are done, if the server says.
        counts: Option<BatchCounts>,
        /// How long this process has waited for the batch.
        waited: Duration,
        /// The pause before the next question.
        next: Duration,
    },
    /// The batch is over, and the program does not wait for it any more.
    Ended {
        /// The server's name of the batch.
        batch: String,
    },
}

impl fmt::Display for BatchEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Note(text) | Self::Warning(text) => formatter.write_str(text),
            Self::Waiting {
                model,
                batch,
                state,
                counts,
                waited,
                next,
            } => {
                write!(formatter, "batch `{batch}` of `{model}`: {state}")?;
                if let Some(counts) = counts {
                    write!(formatter, ", {counts}")?;
                }
                formatter.write_str("; ")?;
                // At the first look nothing was waited.
                if *waited >= Duration::from_secs(1) {
                    write!(formatter, "waited {}, ", time(*waited))?;
                }
                write!(formatter, "next look in {}", time(*next))
            }
            Self::Ended { batch } => write!(formatter, "batch `{batch}` is over"),
        }
    }
}

/// A duration in its two largest units, such as `2h 5m`.
fn time(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) if seconds == 0 && !duration.is_zero() => format!("{} ms", duration.as_millis()),
        (0, 0) => format!("{seconds}s"),
        (0, minutes) => format!("{minutes}m {}s", seconds % 60),
        (hours, minutes) => format!("{hours}h {minutes}m"),
    }
}

/// The program around batches. Its methods must not block.
#[async_trait]
pub trait BatchHost: Debug + Send + Sync {
    /// Receives every step of every batch.
    fn on_event(&self, event: &BatchEvent);

    /// Names a request: the same text for the same request to the same model, and another for any other. Letters and digits, at most 64.
    fn key(&self, model: &dyn ChatModel, request: &ChatRequest) -> String;

    /// How many things are under way that may lead to further requests, such as searches and calls to other models. A batch is not submitted
    /// meanwhile.
    fn under_way(&self) -> usize;

    /// Looks for replies that the program has stored since the callers asked, and returns one for each of these keys, in their order. A
    /// request may wait for hours, and another process may have stored the reply in that time.
    ///
    /// # Errors
    ///
    /// The stored replies cannot be read. The requests then end, because they could be paid for twice.
    async fn stored(
        &self,
        keys: &[String],
    ) -> Result<Vec<Option<ChatReply>>, Box<dyn Error + Send + Sync>>;

    /// Counts the cost of replies, each with the key of its request, and stores those that came in a batch. A batch of an earlier process may
    /// have replies to requests that nobody has made in this one.
    ///
    /// # Errors
    ///
    /// The replies cannot be stored. Their batch is collected again by the next process.
    async fn receive(
        &self,
        model: &dyn ChatModel,
        replies: &[(String, ChatReply)],
    ) -> Result<(), Box<dyn Error + Send + Sync>>;

    /// Reserves the most that a batch may cost, or that the first request, which is sent directly, may cost. Or refuses it: the error says why,
    /// and ends the run. A batch that `is_submitted` by an earlier process is not refused.
    fn reserve(
        &self,
        size: &BatchSize,
        is_submitted: bool,
    ) -> Result<(), Box<dyn Error + Send + Sync>>;

    /// Gives back what was reserved for requests with these keys: their batch is over, its replies are [received](Self::receive), and it is not
    /// collected again. The cost of a batch that could not be followed to its end stays reserved.
    fn release(&self, size: &BatchSize, keys: &BTreeSet<String>);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_one_line() {
        let waiting = |waited| BatchEvent::Waiting {
            model: "openai:m".to_owned(),
            batch: "batch_1".to_owned(),
            state: "in_progress".to_owned(),
            counts: Some(BatchCounts {
                total: 100,
                completed: 40,
                failed: 1,
            }),
            waited,
            next: Duration::from_secs(30),
        };
        assert_eq!(
            waiting(Duration::from_secs(7_512)).to_string(),
            "batch `batch_1` of `openai:m`: in_progress, 41 of 100 done (1 failed); waited 2h 5m, next look in 30s"
        );
        assert_eq!(
            waiting(Duration::from_micros(40)).to_string(),
            "batch `batch_1` of `openai:m`: in_progress, 41 of 100 done (1 failed); next look in 30s"
        );
    }

    #[test]
    fn durations_have_two_units_at_most() {
        let shown = [5, 90, 7_200].map(|seconds| time(Duration::from_secs(seconds)));
        assert_eq!(shown, ["5s", "1m 30s", "2h 0m"]);
        assert_eq!(time(Duration::from_millis(20)), "20 ms");
    }
}
