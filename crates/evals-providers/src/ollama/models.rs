//! The models of an Ollama server: which ones it has, and pulling one that is missing.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use ollama_rs::models::pull::PullModelStatus;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::time::timeout;

use super::catalog;
use crate::classify::{ErrorBody, one_line};
use crate::server::{ConnectError, Expected, Protocol, Server, ServerError};
use crate::settings::{ServerSettings, SettingsError};
use crate::traffic::{AttemptError, Lane, Traffic};

/// The last status of a complete pull.
const SUCCESS: &str = "success";

/// The most layers of a pull that are remembered. A model has about ten.
const MOST_LAYERS: usize = 10_000;
/// The longest digest of a layer in bytes. Ollama's have 71.
const LONGEST_DIGEST: usize = 256;

/// One step of a pull.
const STEP: Expected = Expected::facts("the steps of a pull");

/// The models of an Ollama server.
///
/// [`Self::has`] asks as the models themselves do. [`Self::list`] and [`Self::pull`] do not retry, and do not count as [`Traffic`].
#[derive(Debug)]
pub struct OllamaModels(Server);

/// An Ollama server did not list its models, or did not pull one.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct OllamaModelsError(Arc<dyn Error + Send + Sync>);

impl OllamaModelsError {
    /// Whether no connection to the address came about.
    pub fn is_unreachable(&self) -> bool {
        let error = self.0.downcast_ref();
        matches!(error, Some(ServerError::Unreachable { .. }))
    }
}

impl From<AttemptError> for OllamaModelsError {
    fn from(error: AttemptError) -> Self {
        Self(error.source)
    }
}

impl From<ServerError> for OllamaModelsError {
    fn from(error: ServerError) -> Self {
        Self(Arc::new(error))
    }
}

/// How far a pull is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullProgress {
    /// The current step in the server's words: `pulling manifest`, `verifying sha256 digest`, `success`.
    pub step: String,
    /// The bytes that the server has of the layers that it named so far.
    pub completed: u64,
    /// The size of these layers in bytes. It grows when the server names another one.
    pub total: u64,
}

impl OllamaModels {
    /// The models of a server. Nothing is sent yet.
    pub fn new(settings: ServerSettings) -> Result<Self, SettingsError> {
        Server::new(Protocol::Ollama, settings, "*").map(Self)
    }

    /// The names of the models that the server has, in alphabetical order.
    pub async fn list(&self) -> Result<Vec<String>, OllamaModelsError> {
        let listed = catalog::tags(&self.0).await?.models.into_iter();
        let mut names: Vec<String> = listed.map(|model| self.0.redacted(&model.name)).collect();
        names.sort();
        Ok(names)
    }

    /// Whether the server has a model of that name.
    ///
    /// Any other failure is the error that opening the model would give. The traffic retries as usual, but does not remember a missing
    /// model, so the model can be opened with the same traffic after a pull.
    pub async fn has(&self, model: &str, traffic: Arc<Traffic>) -> Result<bool, ConnectError> {
        let settings = self.0.settings();
        let server = Server::new(Protocol::Ollama, settings.clone(), model)?;
        let lane = Lane::new(traffic, settings, model);
        let has = catalog::has(&server, &lane).await;
        has.map_err(|error| ConnectError::from_attempt(&server.identity(), error))
    }

    /// Has the server pull a model, and reports each step to `progress`.
    ///
    /// The server keeps what it has downloaded when a pull ends early or this future is dropped: the next pull continues there. A
    /// pull may take any time, but fails when the server reports nothing for the length of `timeout`.
    pub async fn pull(
        &self,
        model: &str,
        mut progress: impl FnMut(&PullProgress),
    ) -> Result<(), OllamaModelsError> {
        let server = &self.0;
        let after = server.settings().timeout;
        let body = json!({"name": model, "insecure": false, "stream": true});
        let begun = timeout(after, server.post_for_long("/api/pull", &body)).await;
        let mut response = begun.map_err(|_| ServerError::TimedOut {
            server: server.name(),
            after,
        })??;
        let mut layers = Layers::default();
        let mut rest = Vec::new();
        loop {
            let piece = timeout(after, server.next(&mut response, rest.len(), STEP)).await;
            let piece = piece.map_err(|_| {
                ServerError::Told(format!(
                    "{} reported no progress for {}s (`timeout`); pull again to continue where it stopped",
                    server.name(),
                    after.as_secs_f64()
                ))
            })?;
            let piece = piece.map_err(|error| self.cut(Some(error.source)))?;
            // The last line may have no line feed.
            let is_end = piece.is_none();
            rest.extend(piece.unwrap_or_else(|| vec![b'\n']));
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = rest.drain(..=end).collect();
                if line.trim_ascii().is_empty() {
                    continue;
                }
                let status = self.step(&line)?;
                layers.add(&status);
                let (completed, total) = layers.sums();
                progress(&PullProgress {
                    step: one_line(&server.redacted(&status.message)),
                    completed,
                    total,
                });
                if status.message == SUCCESS {
                    return Ok(());
                }
            }
            if is_end {
                return Err(self.cut(None));
            }
        }
    }

    /// Reads a step of a pull.
    fn step(&self, line: &[u8]) -> Result<PullModelStatus, OllamaModelsError> {
        let json: Value = self.0.parse(STEP, line)?;
        if json.get("error").is_none() {
            return Ok(self.0.parse(STEP, line)?);
        }
        let message = ErrorBody::from_json(&json).message;
        // The server says that the registry does not have the model.
        let missing = ["file does not exist", "invalid model name", "not found"];
        let advice = if missing.iter().any(|words| message.contains(words)) {
            "; check the model's `name`: https://ollama.com/library lists what there is"
        } else {
            ""
        };
        let reason = match one_line(&self.0.redacted(&message)) {
            said if said.is_empty() => " without a reason".to_owned(),
            said => format!(": {said}"),
        };
        let declined = format!("{} refused{reason}{advice}", self.0.name());
        Err(ServerError::Told(declined).into())
    }

    /// The error of a pull whose last status never came.
    fn cut(&self, source: Option<Arc<dyn Error + Send + Sync>>) -> OllamaModelsError {
        let server = self.0.name();
        ServerError::PullCut { server, source }.into()
    }
}

/// The layers that a pull named, by digest: their completed and total bytes. Bounded, because a server may name any number.
#[derive(Debug, Default)]
struct Layers(BTreeMap<String, (u64, u64)>);

impl Layers {
    fn add(&mut self, status: &PullModelStatus) {
        if let (Some(digest), Some(total)) = (&status.digest, status.total)
            && digest.len() <= LONGEST_DIGEST
            && (self.0.len() < MOST_LAYERS || self.0.contains_key(digest))
        {
            let completed = status.completed.unwrap_or(0).min(total);
            self.0.insert(digest.clone(), (completed, total));
        }
    }

    /// The completed and the total bytes. Saturating, because a server may send any numbers.
    fn sums(&self) -> (u64, u64) {
        self.0.values().fold((0, 0), |sums: (u64, u64), layer| {
            (
                sums.0.saturating_add(layer.0),
                sums.1.saturating_add(layer.1),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(digest: Option<&str>, total: Option<u64>, completed: Option<u64>) -> PullModelStatus {
        PullModelStatus {
            message: "pulling".to_owned(),
            digest: digest.map(str::to_owned),
            total,
            completed,
        }
    }

    #[test]
    fn layers_add_up_by_their_latest_status() {
        let mut layers = Layers::default();
        for status in [
            status(None, None, None),
            status(Some("a"), Some(100), None),
            status(Some("a"), Some(100), Some(40)),
            status(Some("b"), Some(10), Some(10)),
            status(Some("a"), Some(100), Some(70)),
        ] {
            layers.add(&status);
        }
        assert_eq!(layers.sums(), (80, 110));
    }

    #[test]
    fn absurd_numbers_stay_within_bounds() {
        let mut layers = Layers::default();
        layers.add(&status(Some("a"), Some(5), Some(9)));
        assert_eq!(layers.sums(), (5, 5));
        layers.add(&status(Some("b"), Some(u64::MAX), Some(u64::MAX)));
        assert_eq!(layers.sums(), (u64::MAX, u64::MAX));
    }

    #[test]
    fn endless_layers_do_not_fill_the_memory() {
        let mut layers = Layers::default();
        layers.add(&status(Some(&"a".repeat(1_000)), Some(1), None));
        assert_eq!(layers.sums(), (0, 0));
        for number in 0..=MOST_LAYERS {
            layers.add(&status(Some(&number.to_string()), Some(1), None));
        }
        layers.add(&status(Some("0"), Some(1), Some(1)));
        assert_eq!(layers.sums(), (1, 10_000));
    }
}
