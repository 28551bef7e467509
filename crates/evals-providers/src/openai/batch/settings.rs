//! The settings of batches.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use evals_models::{ChatModel, ChatRequest};

/// Names a request: the same text for the same request to the same model, and another for any other. Letters and digits, at most 64.
pub type RequestKey = fn(&dyn ChatModel, &ChatRequest) -> String;

/// How requests are gathered, submitted and waited for.
#[derive(Clone, Debug)]
pub struct BatchSettings {
    /// The folder of the records of batches. Processes may share it.
    pub folder: PathBuf,
    /// Names each request in its batch.
    pub key: RequestKey,
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
    pub fn new(folder: impl Into<PathBuf>, key: RequestKey) -> Self {
        Self {
            folder: folder.into(),
            key,
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
