//! Chat models behind servers that speak `OpenAI`'s protocol.

use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::dialect::{Concession, Dialect, LearnedDialect};
use super::reply::Completion;
use super::request;
use super::stream::{self, Streamed};
use crate::chat::{self, raw_reply};
use crate::server::{ConnectError, Expected, Protocol, Server, ServerError};
use crate::settings::{ChatSettings, SettingsError, extra_body};
use crate::traffic::{AttemptError, Lane, Traffic};
use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, ModelIdentity};

const EXPECTED: Expected = Expected::reply("a chat completion");

/// A model behind a server that speaks `OpenAI`'s protocol.
///
/// Servers differ in the fields that they take. A field that the server refuses by name is left out from then on: see
/// [`Self::concessions`].
#[derive(Debug)]
pub struct OpenAiChat {
    pub(super) identity: ModelIdentity,
    pub(super) settings: ChatSettings,
    pub(super) server: Server,
    dialect: LearnedDialect,
    pub(super) lane: Lane,
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

    /// Reads the answer to a request of a batch in this dialect. `None` if the server refused a part of the request, which the next request
    /// leaves out.
    pub(super) fn read_in_batch(
        &self,
        status: u16,
        body: &Value,
        request: &ChatRequest,
        dialect: &Dialect,
    ) -> Result<Option<ChatReply>, AttemptError> {
        let read = if (200..300).contains(&status) {
            self.read(body, request)
        } else {
            Err(self.server.refused_as(status, body))
        };
        let error = match read {
            Ok(reply) => return Ok(Some(reply)),
            Err(error) => error,
        };
        self.given(error, request, dialect)
    }

    /// What a failure gives all the same: an empty reply whose budget ran out, or `None` for a concession.
    fn given(
        &self,
        error: AttemptError,
        request: &ChatRequest,
        dialect: &Dialect,
    ) -> Result<Option<ChatReply>, AttemptError> {
        let Some(ServerError::Refused { refusal, .. }) = error.source.downcast_ref() else {
            return Err(error);
        };
        // `OpenAI` answers so if a reasoning model used the budget up before its reply began.
        let phrases = ["could not finish the message because max_tokens"];
        if refusal.status == 400 && refusal.body.says_any(&phrases) {
            let budget = self.settings.budget(request);
            return Ok(Some(raw_reply::out_of_budget(budget, request)));
        }
        let Some(concession) = dialect.concede(refusal) else {
            return Err(error);
        };
        self.dialect.record(concession);
        Ok(None)
    }

    async fn attempt(&self, request: &ChatRequest) -> Result<ChatReply, AttemptError> {
        loop {
            let dialect = self.dialect.current();
            let error = match self.ask(request, &dialect).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            // The loop ends, because each concession removes something from the request.
            if let Some(reply) = self.given(error, request, &dialect)? {
                return Ok(reply);
            }
        }
    }

    async fn ask(
        &self,
        request: &ChatRequest,
        dialect: &Dialect,
    ) -> Result<ChatReply, AttemptError> {
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

    fn read(&self, json: &Value, request: &ChatRequest) -> Result<ChatReply, AttemptError> {
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
    ) -> Result<ChatReply, AttemptError> {
        let reply = completion.reply(request);
        let reply =
            reply.ok_or_else(|| self.server.unexpected(EXPECTED.what, "no choices", None))?;
        if raw_reply::is_reply(&reply) {
            Ok(raw_reply::redacted(reply, |text| {
                self.server.redacted(text)
            }))
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
        let tokens = raw_reply::estimated_tokens(request, self.settings.budget(request));
        let delivered = self.lane.call(tokens, || self.attempt(request)).await;
        raw_reply::finished(&self.identity, delivered)
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
