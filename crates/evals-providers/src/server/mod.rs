//! A server: its address, one attempt at a request, and what the answer means.

mod body;
mod error;
mod failure;
mod secrets;

use std::time::Duration;

use evals_messages::secrets::Secrets;
use evals_models::ModelIdentity;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, Request, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(crate) use body::Expected;
pub use error::ConnectError;
pub(crate) use error::ServerError;
pub use evals_messages::credential::{REDACTED, is_credential};
pub use evals_models::redacted_fields;

use crate::settings::{ServerSettings, SettingsError};
use crate::traffic::AttemptError;
use body::{Limit, Unread};

/// A server that listens accepts a connection sooner than this.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The protocol that a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    OpenAi,
    Ollama,
    /// The endpoint `/rerank` alone.
    Rerank,
    /// That of a system under test, whose words mean nothing to this program.
    Target,
}

impl Protocol {
    /// The provider's name in settings and identities.
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Ollama => "ollama",
            Self::Rerank | Self::Target => "http",
        }
    }
}

/// A server and the model that requests to it ask for. It makes one attempt at a request and says what its failure means.
///
/// Nothing that it returns, messages included, holds the key or the password.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    protocol: Protocol,
    settings: ServerSettings,
    model: String,
    client: Client,
    secrets: Secrets,
}

impl Server {
    pub(crate) fn new(
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
            // A redirect turns a POST into a GET, and would send the credentials to another server.
            .redirect(reqwest::redirect::Policy::none());
        if settings.base_url.is_loopback() {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| SettingsError::Client {
            source: Box::new(error),
        })?;
        Ok(Self {
            protocol,
            secrets: secrets::of(&settings),
            settings,
            model: model.into(),
            client,
        })
    }

    /// The same server, with the credentials in these fields of requests removed from what it sends, too.
    pub(crate) fn with_fields(mut self, extra_body: &Map<String, Value>) -> Self {
        secrets::add_fields(&mut self.secrets, extra_body);
        self
    }

    /// The same server, with these values removed from what it sends, too.
    pub(crate) fn with_secrets<'s>(mut self, secrets: impl IntoIterator<Item = &'s str>) -> Self {
        let secrets = secrets.into_iter();
        secrets.for_each(|secret| self.secrets.add(secret));
        self
    }

    /// The model's identity, as far as the settings know it.
    pub(crate) fn identity(&self) -> ModelIdentity {
        let named = self.settings.provider.clone();
        ModelIdentity {
            provider: named.unwrap_or_else(|| self.protocol.provider().to_owned()),
            name: self.model.clone(),
            digest: self.settings.digest.clone(),
        }
    }

    pub(crate) fn settings(&self) -> &ServerSettings {
        &self.settings
    }

    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a request and returns an answer whose status is a success, before its body is read.
    pub(crate) async fn start(&self, request: Request) -> Result<Response, AttemptError> {
        let response = self.client.execute(request).await;
        let mut response = response.map_err(|error| self.lost(error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        // A refusal stays a refusal when its body is lost or endless.
        let body = body::beginning(&mut response, Limit::ERROR).await;
        let (body, _) = body.unwrap_or_default();
        Err(self.refused(response.status().as_u16(), response.headers(), &body))
    }

    /// Reads the body of an answer. U+FFFD replaces bytes that are not text.
    pub(crate) async fn read(
        &self,
        response: &mut Response,
        expected: Expected,
    ) -> Result<Vec<u8>, AttemptError> {
        let charset = body::charset(response);
        let body = body::read(response, expected.limit).await;
        let body = body.map_err(|unread| match unread {
            Unread::TooLarge => self.too_large(expected),
            Unread::Lost(error) => self.lost_midway(error),
        })?;
        Ok(body::legible(match charset {
            Some(charset) => charset.decode(&body).0.into_owned().into_bytes(),
            None => body,
        }))
    }

    /// The next piece of an answer's body, of which `read` bytes came before. `None` at its end.
    pub(crate) async fn next(
        &self,
        response: &mut Response,
        read: usize,
        expected: Expected,
    ) -> Result<Option<Vec<u8>>, AttemptError> {
        let piece = response.chunk().await;
        let piece = piece.map_err(|error| self.lost_midway(error))?;
        match piece {
            Some(piece) if !expected.limit.allows(read + piece.len()) => {
                Err(self.too_large(expected))
            }
            piece => Ok(piece.map(Vec::from)),
        }
    }

    /// Posts JSON to an endpoint of the server and returns the body of the answer.
    pub(crate) async fn post<B: Serialize + Sync>(
        &self,
        path: &str,
        body: &B,
        expected: Expected,
    ) -> Result<Vec<u8>, AttemptError> {
        let url = self.settings.base_url.endpoint(path);
        self.fetch(self.client.post(url).json(body), expected).await
    }

    /// Posts JSON to an endpoint whose answer may take any time, and returns the answer before its body is read.
    pub(crate) async fn post_for_long<B: Serialize + Sync>(
        &self,
        path: &str,
        body: &B,
    ) -> Result<Response, AttemptError> {
        let url = self.settings.base_url.endpoint(path);
        let request = self.client.post(url).json(body).timeout(Duration::MAX);
        self.start(self.signed(request)?).await
    }

    /// Uploads a file of requests for batches.
    pub(crate) async fn upload(
        &self,
        path: &str,
        (name, content): (&str, &str),
        expected: Expected,
    ) -> Result<Vec<u8>, AttemptError> {
        let file = Part::text(content.to_owned()).file_name(name.to_owned());
        let form = Form::new().text("purpose", "batch").part("file", file);
        let url = self.settings.base_url.endpoint(path);
        self.fetch(self.client.post(url).multipart(form), expected)
            .await
    }

    /// Gets an endpoint of the server, with query parameters.
    pub(crate) async fn get(
        &self,
        path: &str,
        query: &[(&str, &str)],
        expected: Expected,
    ) -> Result<Vec<u8>, AttemptError> {
        let url = self.settings.base_url.endpoint(path);
        self.fetch(self.client.get(url).query(query), expected)
            .await
    }

    async fn fetch(
        &self,
        request: reqwest::RequestBuilder,
        expected: Expected,
    ) -> Result<Vec<u8>, AttemptError> {
        let request = self.signed(request)?;
        let mut response = self.start(request).await?;
        self.read(&mut response, expected).await
    }

    /// The request with the key.
    fn signed(&self, request: reqwest::RequestBuilder) -> Result<Request, AttemptError> {
        let request = match &self.settings.api_key {
            Some(key) => request.bearer_auth(key.expose()),
            None => request,
        };
        request.build().map_err(|error| self.lost(error))
    }

    /// Reads an answer that is JSON.
    pub(crate) fn parse<T: DeserializeOwned>(
        &self,
        expected: Expected,
        body: &[u8],
    ) -> Result<T, AttemptError> {
        serde_json::from_slice(body).map_err(|error| {
            let text = String::from_utf8_lossy(body);
            self.malformed(expected.what, &text, Some(error))
        })
    }

    /// The server's name in messages.
    pub(crate) fn name(&self) -> String {
        format!("`{}`", self.settings.base_url)
    }

    /// A text from the server without the credentials that were sent, which some servers repeat.
    pub(crate) fn redacted(&self, text: &str) -> String {
        self.secrets.redact(text)
    }

    /// JSON without the credentials in its texts. Names of fields stay.
    pub(crate) fn redacted_values(&self, json: Value) -> Value {
        match json {
            Value::String(text) => Value::String(self.redacted(&text)),
            Value::Array(items) => {
                let items = items.into_iter();
                items.map(|item| self.redacted_values(item)).collect()
            }
            Value::Object(fields) => {
                let fields = fields.into_iter();
                fields
                    .map(|(name, value)| (name, self.redacted_values(value)))
                    .collect()
            }
            other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
        }
    }
}
