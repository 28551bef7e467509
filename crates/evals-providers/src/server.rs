use std::error::Error;
use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;
use reqwest::{Client, Request};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::body::{self, Expected, Limit, Unread};
use super::classify::{self, Complaint, Refusal, Remedy};
use super::error_body::{self, ErrorBody};
use super::secrets::Secrets;
use super::server_error::ServerError;
use super::{AttemptError, Reach, ServerSettings, SettingsError};
use evals_models::{Failure, ModelIdentity};

/// Connecting takes longer only where nothing listens.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The protocol that a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    OpenAi,
    Ollama,
    /// The endpoint `/rerank` alone.
    Rerank,
}

impl Protocol {
    /// The provider's name in settings and identities.
    pub(super) fn provider(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::Rerank => "http",
        }
    }
}

/// A server and the model that is asked there: one attempt at a request, and what its failure means.
///
/// Nothing that leaves here, messages included, holds the key or the password.
#[derive(Clone, Debug)]
pub(super) struct Server {
    protocol: Protocol,
    settings: ServerSettings,
    model: String,
    client: Client,
    secrets: Secrets,
}

impl Server {
    pub(super) fn new(
        protocol: Protocol,
        settings: ServerSettings,
        model: impl Into<String>,
    ) -> Result<Self, SettingsError> {
        if settings.base_url.has_userinfo()
            && (protocol != Protocol::Ollama || settings.api_key.is_some())
        {
            return Err(SettingsError::Userinfo);
        }
        let mut builder = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(settings.timeout)
            // A redirected POST arrives as a GET, and credentials belong to nobody else.
            .redirect(reqwest::redirect::Policy::none());
        if settings.base_url.is_loopback() {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| SettingsError::Client {
            source: Box::new(error),
        })?;
        Ok(Self {
            protocol,
            secrets: Secrets::of(&settings),
            settings,
            model: model.into(),
            client,
        })
    }

    /// The same server, which is also shown the credentials in these fields of requests.
    pub(super) fn with_fields(self, extra_body: &Map<String, Value>) -> Self {
        Self {
            secrets: self.secrets.and_fields(extra_body),
            ..self
        }
    }

    /// The model, with what the settings know of it.
    pub(super) fn identity(&self) -> ModelIdentity {
        let named = self.settings.provider.clone();
        ModelIdentity {
            provider: named.unwrap_or_else(|| self.protocol.provider().to_owned()),
            name: self.model.clone(),
            digest: self.settings.digest.clone(),
        }
    }

    pub(super) fn settings(&self) -> &ServerSettings {
        &self.settings
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a request and returns the answer if its status says that it is the one asked for. What is not text in its body is
    /// replaced by U+FFFD.
    pub(super) async fn send(
        &self,
        request: Request,
        expected: Expected,
    ) -> Result<http::Response<Vec<u8>>, AttemptError> {
        let response = self.client.execute(request).await;
        let mut response = response.map_err(|error| self.lost(error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        if !status.is_success() {
            // A refusal whose body is lost or goes on for ever is still a refusal.
            let body = body::beginning(&mut response, Limit::ERROR).await;
            let (body, _) = body.unwrap_or_default();
            return Err(self.refused(status.as_u16(), &headers, &body));
        }
        let body = body::read(&mut response, expected.limit).await;
        let body = body.map_err(|unread| match unread {
            Unread::TooLarge => self.too_large(expected),
            Unread::Lost(error) => self.lost(error),
        })?;
        let mut answer = http::Response::new(body::legible(body));
        *answer.status_mut() = status;
        *answer.headers_mut() = headers;
        Ok(answer)
    }

    /// Posts JSON to an endpoint of the server and returns the body of the answer.
    pub(super) async fn post<B: Serialize + Sync>(
        &self,
        path: &str,
        body: &B,
        expected: Expected,
    ) -> Result<Vec<u8>, AttemptError> {
        let url = self.settings.base_url.endpoint(path);
        self.fetch(self.client.post(url).json(body), expected).await
    }

    /// Gets an endpoint of the server.
    pub(super) async fn get(
        &self,
        path: &str,
        expected: Expected,
    ) -> Result<Vec<u8>, AttemptError> {
        let url = self.settings.base_url.endpoint(path);
        self.fetch(self.client.get(url), expected).await
    }

    async fn fetch(
        &self,
        request: reqwest::RequestBuilder,
        expected: Expected,
    ) -> Result<Vec<u8>, AttemptError> {
        let request = match &self.settings.api_key {
            Some(key) => request.bearer_auth(key.expose()),
            None => request,
        };
        let request = request.build().map_err(|error| self.lost(error))?;
        Ok(self.send(request, expected).await?.into_body())
    }

    /// Reads an answer that is JSON.
    pub(super) fn parse<T: DeserializeOwned>(
        &self,
        expected: Expected,
        body: &[u8],
    ) -> Result<T, AttemptError> {
        serde_json::from_slice(body).map_err(|error| {
            let text = String::from_utf8_lossy(body);
            self.malformed(expected.what, &text, Some(error))
        })
    }

    /// The failure that an answer with an error's status is.
    fn refused(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> AttemptError {
        let now = SystemTime::now();
        self.failed(classify::classify(status, headers, body, now))
    }

    /// The failure that an error inside a successful answer is; `json` is the object around the key `error`.
    pub(super) fn refused_inside(&self, json: &Value) -> AttemptError {
        self.failed(classify::classify_embedded(ErrorBody::from_json(json)))
    }

    /// A refusal, which was understood before its words are changed for people.
    fn failed(&self, refusal: Refusal) -> AttemptError {
        let refusal = Refusal {
            body: refusal.body.redacted(|text| self.redacted(text)),
            ..refusal
        };
        let for_account = refusal.remedy.is_some_and(Remedy::is_for_account);
        AttemptError {
            retry_after: refusal.retry_after,
            overloaded: refusal.overloaded,
            reach: if for_account {
                Reach::Account
            } else {
                Reach::Model
            },
            away: refusal.loading,
            unknown_status: (refusal.complaint == Some(Complaint::Unknown))
                .then_some(refusal.status),
            ..AttemptError::new(
                refusal.failure,
                ServerError::Refused {
                    server: self.name(),
                    advice: refusal.remedy.map(|remedy| self.advice(remedy)),
                    refusal: Box::new(refusal),
                },
            )
        }
    }

    /// The failure of a request that got no complete answer.
    pub(super) fn lost(&self, error: reqwest::Error) -> AttemptError {
        let (builder, timeout) = (error.is_builder(), error.is_timeout());
        let (server, connect) = (self.name(), error.is_connect());
        let source: Box<dyn Error + Send + Sync> = Box::new(error.without_url());
        let error = if connect {
            ServerError::Unreachable {
                advice: self.start_advice(),
                server,
                source,
            }
        } else if timeout {
            ServerError::TimedOut {
                server,
                after: self.settings.timeout,
            }
        } else {
            ServerError::Lost { server, source }
        };
        let failure = if builder {
            Failure::Terminal
        } else {
            Failure::Transient
        };
        AttemptError {
            overloaded: timeout && !connect,
            away: connect,
            unanswered: !connect && !builder,
            ..AttemptError::new(failure, error)
        }
    }

    /// The failure of an answer that is larger than its limit. It was made, so that another one would be paid for too.
    fn too_large(&self, expected: Expected) -> AttemptError {
        let server = self.name();
        AttemptError::new(Failure::Content, ServerError::TooLarge { server, expected })
    }

    /// The failure of an answer that arrived and is not what the protocol says.
    ///
    /// Another attempt may bring a sound one in place of a page, of nothing, or of a part. An object that is all there was made
    /// for the request, and paid for.
    pub(super) fn malformed(
        &self,
        expected: &'static str,
        body: &str,
        source: Option<serde_json::Error>,
    ) -> AttemptError {
        let body = &self.redacted(body);
        let found = if error_body::looks_like_html(body) {
            let page = ErrorBody::parse(body.as_bytes()).message;
            format!("{page} (check `base_url`)")
        } else if body.trim().is_empty() {
            "nothing".to_owned()
        } else {
            format!("`{}`", error_body::one_line(body))
        };
        let is_whole = source.as_ref().is_some_and(|error| !error.is_eof());
        let is_json = body.trim_start().starts_with(['{', '[']);
        let error = self.unexpected(expected, &found, source);
        AttemptError {
            failure: if is_whole && is_json {
                Failure::Content
            } else {
                error.failure
            },
            ..error
        }
    }

    /// The failure of an answer that can be read, but holds something else. Another attempt may bring what was asked for.
    pub(super) fn unexpected(
        &self,
        expected: &'static str,
        found: &str,
        source: Option<serde_json::Error>,
    ) -> AttemptError {
        let error = ServerError::Malformed {
            server: self.name(),
            expected,
            found: self.redacted(found),
            // What could not be read is part of the message.
            source: source.map(|error| self.redacted(&error.to_string()).into()),
        };
        AttemptError::new(Failure::Transient, error)
    }

    /// The failure of a model that embeds tokens and not texts.
    pub(super) fn unpooled(&self) -> AttemptError {
        let error = ServerError::Unpooled {
            server: self.name(),
            advice: self.advice(Remedy::Embeddings),
        };
        AttemptError::new(Failure::Terminal, error)
    }

    /// The server as messages name it.
    pub(super) fn name(&self) -> String {
        format!("`{}`", self.settings.base_url)
    }

    /// A text from the server without our credentials, which some servers repeat.
    pub(super) fn redacted(&self, text: &str) -> String {
        self.secrets.redact(text)
    }

    fn advice(&self, remedy: Remedy) -> String {
        match (remedy, self.protocol) {
            (Remedy::Key, _) => match &self.settings.api_key {
                Some(key) => format!(
                    "check the key in `{}`, which `api_key_env` names",
                    key.variable()
                ),
                None => {
                    "name the environment variable that holds a key in `api_key_env`".to_owned()
                }
            },
            (Remedy::Quota, _) => {
                "the account has no credit left: top it up, or set another model".to_owned()
            }
            (Remedy::Model, Protocol::Ollama) => format!("run `ollama pull {}`", self.model),
            (Remedy::Model, Protocol::OpenAi | Protocol::Rerank) => format!(
                "set the model's `name` to one that the server has, not `{}`",
                self.model
            ),
            (Remedy::Address, Protocol::Ollama) => {
                "check `base_url`: Ollama's has no path".to_owned()
            }
            (Remedy::Address, Protocol::OpenAi) if self.settings.base_url.ends_in_v1() => {
                "check `base_url`: some servers have no `/v1` in theirs".to_owned()
            }
            (Remedy::Address, Protocol::OpenAi) => {
                "check `base_url`: it usually ends in `/v1`".to_owned()
            }
            (Remedy::Address, Protocol::Rerank) => {
                "check `base_url`: `/rerank` is appended to it".to_owned()
            }
            (Remedy::Setting, _) => {
                "change or remove the model's setting that the server names".to_owned()
            }
            (Remedy::Memory, _) => {
                "set a smaller model, or a smaller `num_ctx` where the server takes one".to_owned()
            }
            (Remedy::Embeddings, _) => {
                "set a model that embeds, or start the server so that this one does".to_owned()
            }
            (Remedy::Reranking, _) => {
                "set a model that reranks, or start the server so that this one does".to_owned()
            }
            (Remedy::Conversations, _) => {
                "set a model that the server asks through `/chat/completions`".to_owned()
            }
            (Remedy::SystemRole, _) => {
                "set a model whose chat template takes instructions of the role `system`".to_owned()
            }
            (Remedy::Firewall, _) => {
                "a firewall refused this, and not the server behind it".to_owned()
            }
        }
    }

    fn start_advice(&self) -> String {
        match self.protocol {
            Protocol::Ollama => "start it with `ollama serve`, or check `base_url`".to_owned(),
            Protocol::OpenAi | Protocol::Rerank => {
                "start the server, or check `base_url`".to_owned()
            }
        }
    }
}
