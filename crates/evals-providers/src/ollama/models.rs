//! The models of an Ollama server: which ones it has, and pulling one that is missing.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use futures::StreamExt as _;
use ollama_rs::Ollama;
use ollama_rs::error::OllamaError;
use ollama_rs::models::pull::PullModelStatus;
use reqwest_0_12::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest_0_12::redirect::Policy;
use thiserror::Error;
use tokio::time::timeout;

use super::catalog;
use crate::classify::{ErrorBody, one_line};
use crate::server::{CONNECT_TIMEOUT, ConnectError, Protocol, Server, ServerError};
use crate::settings::{ServerSettings, SettingsError};
use crate::traffic::{Lane, Traffic};

/// The last status of a complete pull.
const SUCCESS: &str = "success";

/// The most layers of a pull that are remembered. A model has about ten.
const MOST_LAYERS: usize = 10_000;
/// The longest digest of a layer in bytes. Ollama's have 71.
const LONGEST_DIGEST: usize = 256;

/// The models of an Ollama server.
///
/// [`Self::has`] asks as the models themselves do. [`Self::list`] and [`Self::pull`] send their requests through the client of
/// `ollama-rs`: nothing is retried, and the calls do not count as [`Traffic`]. Timeouts, proxies, redirects and credentials are those
/// of every other request. Three things differ, because the client of `ollama-rs` leaves no choice: it limits neither the size of an
/// answer nor the length of a line, it drops the status of a refusal, and it trusts the root certificates of `webpki-roots` instead
/// of the system's.
pub struct OllamaModels {
    server: Server,
    client: Ollama,
}

/// An Ollama server did not list its models, or did not pull one.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct OllamaModelsError(ServerError);

impl OllamaModelsError {
    /// Whether no connection to the address came about.
    pub fn is_unreachable(&self) -> bool {
        matches!(self.0, ServerError::Unreachable { .. })
    }

    /// The error of a pull, with advice where the server says that the registry does not have the model.
    fn with_name_advice(mut self) -> Self {
        let missing = ["file does not exist", "invalid model name", "not found"];
        if let ServerError::Declined {
            message, advice, ..
        } = &mut self.0
            && missing.iter().any(|words| message.contains(words))
        {
            *advice = "check the model's `name`: https://ollama.com/library lists what there is";
        }
        self
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
        let client = Ollama::builder()
            .url(settings.base_url.endpoint("/"))
            .reqwest_client(client(&settings)?)
            .build();
        Ok(Self {
            server: Server::new(Protocol::Ollama, settings, "*")?,
            client,
        })
    }

    /// The names of the models that the server has, in alphabetical order.
    pub async fn list(&self) -> Result<Vec<String>, OllamaModelsError> {
        let listed = self.within_timeout(self.client.list_local_models()).await?;
        let listed = listed.map_err(|error| self.failed(error, "a list of models"))?;
        let mut names: Vec<String> = listed
            .into_iter()
            .map(|model| self.server.redacted(&model.name))
            .collect();
        names.sort();
        Ok(names)
    }

    /// Whether the server has a model of that name.
    ///
    /// Any other failure is the error that opening the model would give. The traffic retries as usual, but does not remember a missing
    /// model, so the model can be opened with the same traffic after a pull.
    pub async fn has(&self, model: &str, traffic: Arc<Traffic>) -> Result<bool, ConnectError> {
        let settings = self.server.settings();
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
        let begun = self.client.pull_model_stream(model.to_owned(), false);
        let begun = self.within_timeout(begun).await?;
        let mut statuses =
            begun.map_err(|error| self.failed(error, "the steps of a pull").with_name_advice())?;
        let mut layers = Layers::default();
        loop {
            let Ok(status) = timeout(self.server.settings().timeout, statuses.next()).await else {
                return Err(OllamaModelsError(ServerError::PullStalled {
                    server: self.server.name(),
                    after: self.server.settings().timeout,
                }));
            };
            let status = match status {
                Some(Ok(status)) => status,
                Some(Err(OllamaError::InternalError(refusal))) => {
                    return Err(self.declined(&refusal.message).with_name_advice());
                }
                Some(Err(OllamaError::JsonError(error))) => {
                    return Err(self.failed(OllamaError::JsonError(error), "the steps of a pull"));
                }
                Some(Err(error)) => return Err(self.cut(Some(&error))),
                None => return Err(self.cut(None)),
            };
            layers.add(&status);
            let step = one_line(&self.server.redacted(&status.message));
            progress(&PullProgress {
                step,
                completed: layers.completed(),
                total: layers.total(),
            });
            if status.message == SUCCESS {
                return Ok(());
            }
        }
    }

    async fn within_timeout<T>(
        &self,
        request: impl Future<Output = T>,
    ) -> Result<T, OllamaModelsError> {
        let after = self.server.settings().timeout;
        timeout(after, request).await.map_err(|_| {
            let server = self.server.name();
            OllamaModelsError(ServerError::TimedOut { server, after })
        })
    }

    /// The error of a request that the client of `ollama-rs` could not complete.
    fn failed(&self, error: OllamaError, expected: &'static str) -> OllamaModelsError {
        let server = self.server.name();
        match error {
            OllamaError::ReqwestError(error) if error.is_connect() => {
                OllamaModelsError(ServerError::Unreachable {
                    server,
                    advice: self.server.start_advice(),
                    source: Box::new(error.without_url()),
                })
            }
            OllamaError::ReqwestError(error) => OllamaModelsError(ServerError::Lost {
                server,
                source: Box::new(error.without_url()),
            }),
            OllamaError::JsonError(error) => OllamaModelsError(ServerError::Malformed {
                server,
                expected,
                found: "something else".to_owned(),
                source: Some(self.server.redacted(&error.to_string()).into()),
            }),
            OllamaError::InternalError(refusal) => self.declined(&refusal.message),
            // The body of a refusal.
            other => self.declined(&ErrorBody::parse(other.to_string().as_bytes()).message),
        }
    }

    /// The error of a refusal whose status the client dropped.
    fn declined(&self, message: &str) -> OllamaModelsError {
        OllamaModelsError(ServerError::Declined {
            server: self.server.name(),
            message: one_line(&self.server.redacted(message)),
            advice: "",
        })
    }

    /// The error of a pull whose last status never came.
    fn cut(&self, error: Option<&OllamaError>) -> OllamaModelsError {
        let source = error.map(|error| self.server.redacted(&error.to_string()).into());
        OllamaModelsError(ServerError::PullCut {
            server: self.server.name(),
            source,
        })
    }
}

impl fmt::Debug for OllamaModels {
    /// Without the client, which shows the password of an address.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("OllamaModels")
            .field(&self.server)
            .finish()
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

    fn completed(&self) -> u64 {
        self.sum(|(completed, _)| completed)
    }

    fn total(&self) -> u64 {
        self.sum(|(_, total)| total)
    }

    /// Saturating, because a server may send any numbers.
    fn sum(&self, part: impl Fn((u64, u64)) -> u64) -> u64 {
        let parts = self.0.values().map(|layer| part(*layer));
        parts.fold(0, u64::saturating_add)
    }
}

/// An HTTP client of the version that `ollama-rs` takes, set up as [`Server::new`] sets up ours. It has no timeout for a whole
/// request, because a pull may take hours.
fn client(settings: &ServerSettings) -> Result<reqwest_0_12::Client, SettingsError> {
    let mut builder = reqwest_0_12::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(Policy::none());
    if settings.base_url.is_loopback() {
        builder = builder.no_proxy();
    }
    if let Some(key) = &settings.api_key {
        let bearer = format!("Bearer {}", key.expose());
        let mut bearer = HeaderValue::from_str(&bearer).expect("a key is visible ASCII");
        bearer.set_sensitive(true);
        builder = builder.default_headers(HeaderMap::from_iter([(AUTHORIZATION, bearer)]));
    }
    builder.build().map_err(|error| SettingsError::Client {
        source: Box::new(error),
    })
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
        assert_eq!((layers.completed(), layers.total()), (80, 110));
    }

    #[test]
    fn absurd_numbers_stay_within_bounds() {
        let mut layers = Layers::default();
        layers.add(&status(Some("a"), Some(5), Some(9)));
        assert_eq!((layers.completed(), layers.total()), (5, 5));
        layers.add(&status(Some("b"), Some(u64::MAX), Some(u64::MAX)));
        assert_eq!((layers.completed(), layers.total()), (u64::MAX, u64::MAX));
    }

    #[test]
    fn endless_layers_do_not_fill_the_memory() {
        let mut layers = Layers::default();
        layers.add(&status(Some(&"a".repeat(1_000)), Some(1), None));
        assert_eq!(layers.total(), 0);
        for number in 0..=MOST_LAYERS {
            layers.add(&status(Some(&number.to_string()), Some(1), None));
        }
        layers.add(&status(Some("0"), Some(1), Some(1)));
        assert_eq!((layers.completed(), layers.total()), (1, 10_000));
    }
}
