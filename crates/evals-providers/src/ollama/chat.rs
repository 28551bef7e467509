use std::fmt;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::catalog::{self, Facts};
use super::reply::{self, Unread};
use super::request;
use super::window::Window;
use crate::body::Expected;
use crate::caller::Lane;
use crate::said::{self, Said};
use crate::server::{Protocol, Server};
use crate::server_error::ServerError;
use crate::{
    AttemptError, ChatSettings, ConnectError, MaxTokensField, SettingsError, Traffic, extra_body,
    parameters,
};
use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Failure, ModelIdentity};

const EXPECTED: Expected = Expected::reply("a chat reply");

/// A model that Ollama runs.
///
/// Its context is sized by the longest prompt so far, and a prompt that would be cut is a failure of that prompt.
pub struct OllamaChat {
    identity: ModelIdentity,
    settings: ChatSettings,
    facts: Facts,
    /// The largest window so far, which the model is loaded for.
    loaded: AtomicU64,
    server: Server,
    lane: Lane,
}

impl OllamaChat {
    /// Asks the server for the model's digest and length of context.
    ///
    /// Fails where no server answers or the server does not have the model, and says what to do about it.
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

    /// Most tokens of prompt and reply that the model reads at once, where the server tells.
    pub fn context_length(&self) -> Option<u64> {
        self.facts.context_length
    }

    async fn attempt(&self, request: &ChatRequest) -> Result<Said, AttemptError> {
        let cannot = |error: ServerError| AttemptError::new(Failure::Content, error);
        let budget = self.budget(request);
        let set = self.settings.num_ctx.map(NonZero::get);
        let window = Window::fitting(request, budget, set, self.facts.context_length);
        let window = window.map_err(cannot)?;
        let window = window.at_least(self.loaded.fetch_max(window.size, Ordering::Relaxed));
        let body = request::body(&self.settings, request, window);
        let body = body.map_err(|error| AttemptError::new(Failure::Terminal, error))?;
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
        if reply.said.is_reply() {
            Ok(reply.said.redacted(|text| self.server.redacted(text)))
        } else {
            Err(self.server.unexpected(EXPECTED.what, "an empty one", None))
        }
    }

    fn budget(&self, request: &ChatRequest) -> Option<u32> {
        let budget = request.max_tokens.or(self.settings.max_tokens);
        budget.map(NonZero::get)
    }
}

#[async_trait]
impl ChatModel for OllamaChat {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters::of_chat(&self.identity, &self.settings)
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let tokens = said::estimated_tokens(request, self.budget(request));
        let delivered = self.lane.call(tokens, || self.attempt(request)).await;
        delivered
            .map(Said::reply)
            .map_err(|error| said::chat_error(&self.identity, error))
    }
}

impl fmt::Debug for OllamaChat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OllamaChat")
            .field("identity", &self.identity)
            .field("settings", &self.settings)
            .field("facts", &self.facts)
            .finish_non_exhaustive()
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
    match foreign.iter().find(|(_, set)| *set) {
        Some((setting, _)) => Err(SettingsError::WrongProvider {
            setting,
            provider: Protocol::Ollama.provider(),
        }),
        None => Ok(()),
    }
}
