//! Chat models that Ollama runs.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::catalog::{self, Facts};
use super::reply::{self, Unread};
use super::request;
use super::window::Window;
use crate::chat::{self, raw_reply};
use crate::server::{ConnectError, Expected, Protocol, Server, ServerError};
use crate::settings::{ChatSettings, MaxTokensField, SettingsError, extra_body};
use crate::traffic::{AttemptError, Lane, Traffic};
use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Failure, ModelIdentity};

const EXPECTED: Expected = Expected::reply("a chat reply");

/// A model that Ollama runs.
///
/// The longest prompt so far decides how many tokens the model is loaded for. A prompt that Ollama would cut fails.
#[derive(Debug)]
pub struct OllamaChat {
    identity: ModelIdentity,
    settings: ChatSettings,
    facts: Facts,
    /// The largest window so far, for which the model is loaded.
    loaded: AtomicU64,
    server: Server,
    lane: Lane,
}

impl OllamaChat {
    /// Asks the server for the model's digest and context length.
    ///
    /// Fails with advice where no server answers or the server does not have the model.
    pub async fn connect(
        settings: ChatSettings,
        traffic: Arc<Traffic>,
    ) -> Result<Self, ConnectError> {
        refuse_foreign_settings(&settings)?;
        extra_body::check(&settings.extra_body, &request::RESERVED)?;
        extra_body::check_options(&settings.extra_body, &request::RESERVED_OPTIONS)?;
        let server = Server::new(Protocol::Ollama, settings.server.clone(), &settings.model)?
            .with_fields(&settings.extra_body);
        let mut identity = server.identity();
        let lane = Lane::new(traffic, &settings.server, &settings.model);
        let facts = catalog::look_up(&server, &lane)
            .await
            .map_err(|error| ConnectError::from_attempt(&identity, error))?;
        identity.digest.clone_from(&facts.digest);
        Ok(Self {
            identity,
            settings,
            facts,
            loaded: AtomicU64::new(0),
            server,
            lane,
        })
    }

    /// The most tokens of prompt and reply together that the model can read, where the server says.
    pub fn context_length(&self) -> Option<u64> {
        self.facts.context_length
    }

    async fn attempt(&self, request: &ChatRequest) -> Result<ChatReply, AttemptError> {
        let cannot = |error: ServerError| AttemptError::new(Failure::Content, error);
        let budget = self.settings.budget(request);
        let set = self.settings.num_ctx.map(NonZero::get);
        let window = Window::fitting(request, budget, set, self.facts.context_length);
        let window = window.map_err(cannot)?;
        let window = window.at_least(self.loaded.fetch_max(window.size, Ordering::Relaxed));
        let body = request::body(&self.settings, request, window);
        let answer = self.server.post("/api/chat", &body, EXPECTED).await?;
        let reply = reply::parse(&answer, request).map_err(|unread| match unread {
            Unread::Refused(error) => self.server.refused_inside(&error),
            Unread::Malformed(source) => {
                let text = String::from_utf8_lossy(&answer);
                self.server.malformed(EXPECTED.what, &text, source)
            }
        })?;
        let full = window.check(reply.read, reply.written);
        full.map_err(cannot)?;
        if raw_reply::is_reply(&reply.raw) {
            let redact = |text: &str| self.server.redacted(text);
            Ok(raw_reply::redacted(reply.raw, redact))
        } else {
            Err(self.server.unexpected(EXPECTED.what, "an empty one", None))
        }
    }
}

#[async_trait]
impl ChatModel for OllamaChat {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn parameters(&self) -> Map<String, Value> {
        chat::parameters(&self.identity, &self.settings)
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let tokens = raw_reply::estimated_tokens(request, self.settings.budget(request));
        let delivered = self.lane.call(tokens, || self.attempt(request)).await;
        raw_reply::finished(&self.identity, delivered)
    }
}

fn refuse_foreign_settings(settings: &ChatSettings) -> Result<(), SettingsError> {
    let foreign = [
        ("reasoning_effort", settings.reasoning_effort.is_some()),
        (
            "max_tokens_field",
            settings.max_tokens_field != MaxTokensField::Auto,
        ),
    ];
    SettingsError::refuse_foreign(Protocol::Ollama.provider(), &foreign)
}
