//! Chat models behind servers that speak `OpenAI`'s protocol.

use std::fmt;
use std::num::NonZero;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::dialect::{Concession, Dialect, LearnedDialect};
use super::reply::Completion;
use super::request;
use super::stream::{self, Streamed};
use crate::chat::{self, RawReply, raw_reply};
use crate::server::{ConnectError, Expected, Protocol, Server, ServerError};
use crate::settings::{ChatSettings, SettingsError, extra_body};
use crate::traffic::{AttemptError, Lane, Traffic};
use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, ModelIdentity};

const EXPECTED: Expected = Expected::reply("a chat completion");

/// A model behind a server that speaks `OpenAI`'s protocol.
///
/// Servers differ in the fields that they take. A field that the server refuses by name is left out from then on: see
/// [`Self::concessions`].
pub struct OpenAiChat {
    pub(super) identity: ModelIdentity,
    settings: ChatSettings,
    pub(super) server: Server,
    dialect: LearnedDialect,
    pub(super) lane: Lane,
}

/// How to use a line of a batch's output.
#[derive(Debug)]
pub(super) enum InBatch {
    Reply(RawReply),
    /// The server refused a part of the request. The next request leaves that part out.
    Conceded,
    Failed(AttemptError),
}

impl OpenAiChat {
    /// Sets a model up without a request to its server.
    pub fn new(settings: ChatSettings, traffic: Arc<Traffic>) -> Result<Self, ConnectError> {
        refuse_foreign_settings(&settings)?;
        extra_body::check(&settings.extra_body, &request::RESERVED)?;
        let server = Server::new(Protocol::OpenAi, settings.server.clone(), &settings.model)?
            .with_fields(&settings.extra_body);
        Ok(Self {
            identity: server.identity(),
            dialect: LearnedDialect::new(Dialect::guess(
                &settings.model,
                settings.max_tokens_field,
            )),
            lane: Lane::new(traffic, &settings.server, &settings.model),
            server,
            settings,
        })
    }

    /// The parts of requests that the server refused so far, and that later requests leave out or replace.
    pub fn concessions(&self) -> Vec<Concession> {
        self.dialect.concessions()
    }

    /// The parts of the protocol that the server accepts, as far as its refusals have shown.
    pub(super) fn dialect(&self) -> Dialect {
        self.dialect.current()
    }

    /// The body of a request in this dialect, as JSON.
    pub(super) fn body(
        &self,
        request: &ChatRequest,
        dialect: &Dialect,
    ) -> serde_json::Result<Value> {
        serde_json::to_value(request::body(&self.settings, request, dialect))
    }

    /// Reads the answer to a request of a batch in this dialect.
    pub(super) fn read_in_batch(
        &self,
        status: u16,
        body: &Value,
        request: &ChatRequest,
        dialect: &Dialect,
    ) -> InBatch {
        let read = if (200..300).contains(&status) {
            self.read(body, request)
        } else {
            Err(self.server.refused_as(status, body))
        };
        let error = match read {
            Ok(reply) => return InBatch::Reply(reply),
            Err(error) => error,
        };
        if is_out_of_budget(&error) {
            return InBatch::Reply(RawReply::out_of_budget(self.budget(request), request));
        }
        match concede(dialect, &error) {
            Some(concession) => {
                self.dialect.record(concession);
                InBatch::Conceded
            }
            None => InBatch::Failed(error),
        }
    }

    /// The most tokens of a request's reply; `None` without a limit.
    pub(super) fn budget(&self, request: &ChatRequest) -> Option<u32> {
        let budget = request.max_tokens.or(self.settings.max_tokens);
        budget.map(NonZero::get)
    }

    async fn attempt(&self, request: &ChatRequest) -> Result<RawReply, AttemptError> {
        loop {
            let dialect = self.dialect.current();
            let error = match self.ask(request, &dialect).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            if is_out_of_budget(&error) {
                return Ok(RawReply::out_of_budget(self.budget(request), request));
            }
            // The loop ends, because each concession removes something from the request.
            let Some(concession) = concede(&dialect, &error) else {
                return Err(error);
            };
            self.dialect.record(concession);
        }
    }

    async fn ask(
        &self,
        request: &ChatRequest,
        dialect: &Dialect,
    ) -> Result<RawReply, AttemptError> {
        let body = request::body(&self.settings, request, dialect);
        let path = "/chat/completions";
        let answer = self.server.post(path, &body, EXPECTED).await?;
        let error = match serde_json::from_slice::<Value>(&answer) {
            Ok(json) => return self.read(&json, request),
            Err(error) => error,
        };
        let text = String::from_utf8_lossy(&answer);
        match stream::assemble(&text) {
            Some(Streamed::Reply(completion)) => self.reply(&completion, request),
            Some(Streamed::Refused(event)) => Err(self.server.refused_inside(&event)),
            Some(Streamed::Cut) | None => {
                Err(self.server.malformed(EXPECTED.what, &text, Some(error)))
            }
        }
    }

    fn read(&self, json: &Value, request: &ChatRequest) -> Result<RawReply, AttemptError> {
        let refused = |json: &Value| json.get("error").is_some_and(|error| !error.is_null());
        if refused(json) || json.get("object").is_some_and(|object| object == "error") {
            return Err(self.server.refused_inside(json));
        }
        if let Some(choice) = json.pointer("/choices/0")
            && refused(choice)
        {
            return Err(self.server.refused_inside(choice));
        }
        let completion = Completion::deserialize(json).map_err(|error| {
            let text = json.to_string();
            self.server.malformed(EXPECTED.what, &text, Some(error))
        })?;
        self.reply(&completion, request)
    }

    fn reply(
        &self,
        completion: &Completion,
        request: &ChatRequest,
    ) -> Result<RawReply, AttemptError> {
        let reply = completion.reply(request);
        let reply =
            reply.ok_or_else(|| self.server.unexpected(EXPECTED.what, "no choices", None))?;
        if reply.is_reply() {
            Ok(reply.redacted(|text| self.server.redacted(text)))
        } else {
            Err(self.server.unexpected(EXPECTED.what, "an empty one", None))
        }
    }
}

#[async_trait]
impl ChatModel for OpenAiChat {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn parameters(&self) -> Map<String, Value> {
        chat::parameters(&self.identity, &self.settings)
    }

    fn notes(&self) -> Vec<String> {
        let concessions = self.concessions();
        concessions.iter().map(ToString::to_string).collect()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let tokens = raw_reply::estimated_tokens(request, self.budget(request));
        let delivered = self.lane.call(tokens, || self.attempt(request)).await;
        delivered
            .map(RawReply::into_reply)
            .map_err(|error| raw_reply::chat_error(&self.identity, error))
    }
}

impl fmt::Debug for OpenAiChat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OpenAiChat")
            .field("settings", &self.settings)
            .field("dialect", &self.dialect)
            .finish_non_exhaustive()
    }
}

fn refuse_foreign_settings(settings: &ChatSettings) -> Result<(), SettingsError> {
    let foreign = [
        ("num_ctx", settings.num_ctx.is_some()),
        ("keep_alive", settings.keep_alive.is_some()),
        ("think", settings.think.is_some()),
    ];
    SettingsError::refuse_foreign(Protocol::OpenAi.provider(), &foreign)
}

/// Whether the server answers that the budget ran out before the reply began, as `OpenAI` does for reasoning models.
fn is_out_of_budget(error: &AttemptError) -> bool {
    let phrases = ["could not finish the message because max_tokens"];
    match error.source.downcast_ref::<ServerError>() {
        Some(ServerError::Refused { refusal, .. }) => {
            refusal.status == 400 && refusal.body.says_any(&phrases)
        }
        _ => false,
    }
}

fn concede(dialect: &Dialect, error: &AttemptError) -> Option<Concession> {
    match error.source.downcast_ref::<ServerError>()? {
        ServerError::Refused { refusal, .. } => dialect.concede(refusal),
        _ => None,
    }
}
