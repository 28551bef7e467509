use std::fmt;
use std::num::NonZero;
use std::sync::Arc;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_trait::async_trait;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::dialect::{Concession, Dialect, Learnt};
use super::reply::Completion;
use super::stream::{self, Streamed};
use super::{request, service};
use crate::body::Expected;
use crate::caller::Lane;
use crate::said::{self, Said};
use crate::server::{Protocol, Server};
use crate::server_error::ServerError;
use crate::{
    AttemptError, ChatSettings, ConnectError, SettingsError, Traffic, extra_body, parameters,
};
use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Failure, ModelIdentity};

const EXPECTED: Expected = Expected::reply("a chat completion");

/// A model behind a server that speaks `OpenAI`'s protocol.
///
/// Servers differ in what they take, so fields that one refuses by name are left out from then on: see [`Self::concessions`].
pub struct OpenAiChat {
    identity: ModelIdentity,
    settings: ChatSettings,
    server: Server,
    client: Client<OpenAIConfig>,
    learnt: Learnt,
    lane: Lane,
}

impl OpenAiChat {
    /// Sets a model up, without asking its server for anything: most servers have nothing to ask for.
    pub fn new(settings: ChatSettings, traffic: Arc<Traffic>) -> Result<Self, ConnectError> {
        refuse_foreign_settings(&settings)?;
        extra_body::check(&settings.extra_body, &request::RESERVED)?;
        let server = Server::new(Protocol::OpenAi, settings.server.clone(), &settings.model)?
            .with_fields(&settings.extra_body);
        Ok(Self {
            identity: server.identity(),
            learnt: Learnt::new(Dialect::guessed(&settings.model, settings.max_tokens_field)),
            client: super::client(&server, EXPECTED),
            lane: Lane::new(traffic, &settings.server, &settings.model),
            server,
            settings,
        })
    }

    /// What the server refused so far, so that requests go without it. Replies are as valid, but less held to what was asked.
    pub fn concessions(&self) -> Vec<Concession> {
        self.learnt.concessions()
    }

    fn budget(&self, request: &ChatRequest) -> Option<u32> {
        let budget = request.max_tokens.or(self.settings.max_tokens);
        budget.map(NonZero::get)
    }

    async fn attempt(&self, request: &ChatRequest) -> Result<Said, AttemptError> {
        loop {
            let dialect = self.learnt.dialect();
            let error = match self.ask(request, dialect).await {
                Ok(said) => return Ok(said),
                Err(error) => error,
            };
            if ran_out(&error) {
                return Ok(Said::nothing_within(self.budget(request), request));
            }
            // Every concession takes something away, so this ends.
            let Some((dialect, concession)) = conceding(dialect, &error) else {
                return Err(error);
            };
            self.learnt.concede(dialect, concession);
        }
    }

    async fn ask(&self, request: &ChatRequest, dialect: Dialect) -> Result<Said, AttemptError> {
        let body = request::body(&self.settings, request, dialect);
        let body = body.map_err(|error| AttemptError::new(Failure::Terminal, error))?;
        match self.client.chat().create_byot::<_, Value>(body).await {
            Ok(json) => self.read(&json, request),
            Err(error) => {
                let body = service::failure(&self.server, error)?;
                match stream::assemble(&body.text) {
                    Some(Streamed::Reply(completion)) => self.said(&completion, request),
                    Some(Streamed::Refused(event)) => Err(self.server.refused_inside(&event)),
                    Some(Streamed::Cut) | None => {
                        let source = Some(body.source);
                        Err(self.server.malformed(EXPECTED.what, &body.text, source))
                    }
                }
            }
        }
    }

    fn read(&self, json: &Value, request: &ChatRequest) -> Result<Said, AttemptError> {
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
        self.said(&completion, request)
    }

    fn said(&self, completion: &Completion, request: &ChatRequest) -> Result<Said, AttemptError> {
        let said = completion.said(request);
        let said = said.ok_or_else(|| self.server.unexpected(EXPECTED.what, "no choices", None))?;
        if said.is_reply() {
            Ok(said.redacted(|text| self.server.redacted(text)))
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
        parameters::of_chat(&self.identity, &self.settings)
    }

    fn notes(&self) -> Vec<String> {
        let concessions = self.concessions();
        concessions.iter().map(ToString::to_string).collect()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let tokens = said::estimated_tokens(request, self.budget(request));
        let delivered = self.lane.call(tokens, || self.attempt(request)).await;
        delivered
            .map(Said::reply)
            .map_err(|error| said::chat_error(&self.identity, error))
    }
}

impl fmt::Debug for OpenAiChat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OpenAiChat")
            .field("settings", &self.settings)
            .field("learnt", &self.learnt)
            .finish_non_exhaustive()
    }
}

fn refuse_foreign_settings(settings: &ChatSettings) -> Result<(), SettingsError> {
    let foreign = [
        ("num_ctx", settings.num_ctx.is_some()),
        ("keep_alive", settings.keep_alive.is_some()),
        ("think", settings.think.is_some()),
    ];
    match foreign.iter().find(|(_, set)| *set) {
        Some((setting, _)) => Err(SettingsError::WrongProvider {
            setting,
            provider: Protocol::OpenAi.provider(),
        }),
        None => Ok(()),
    }
}

/// Whether the server answers that the budget was used up before there was anything to answer, as `OpenAI` does of models that
/// reason.
fn ran_out(error: &AttemptError) -> bool {
    let phrases = ["could not finish the message because max_tokens"];
    match error.source.downcast_ref::<ServerError>() {
        Some(ServerError::Refused { refusal, .. }) => {
            refusal.status == 400 && refusal.body.says_any(&phrases)
        }
        _ => false,
    }
}

fn conceding(dialect: Dialect, error: &AttemptError) -> Option<(Dialect, Concession)> {
    match error.source.downcast_ref::<ServerError>()? {
        ServerError::Refused { refusal, .. } => dialect.conceding(refusal),
        _ => None,
    }
}
