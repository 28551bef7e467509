//! Models as settings name them, opened. Those at one address share its traffic: its limits, its retries, its failures.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use evals_models::http::{
    ApiKey, BaseUrl, ChatSettings, Dimension, EmbedSettings, OllamaChat, OllamaEmbedder,
    OpenAiChat, OpenAiEmbedder, ServerSettings, Think, Traffic, TrafficSettings,
    list_openai_models,
};
use evals_models::{ChatModel, Embedder};

use crate::printer::Printer;
use crate::settings::{self, Effort, Model, Provider, Resolved, SettingsError};

/// Where Ollama listens unless settings say otherwise.
const OLLAMA: &str = "http://localhost:11434";

/// OpenAI itself, the only server that its key is ever sent to without being asked for.
const OPENAI: &str = "https://api.openai.com/v1";
const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// What a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Protocol {
    Ollama,
    OpenAi,
}

/// Opens models, each server once.
#[derive(Debug)]
pub(crate) struct Servers<'r> {
    resolved: &'r Resolved,
    printer: Printer,
    seed: u64,
    once: bool,
    traffic: BTreeMap<(Protocol, String), Arc<Traffic>>,
}

impl<'r> Servers<'r> {
    /// Servers as `resolved` describes them. Pauses between attempts are drawn from `seed`.
    pub(crate) fn new(resolved: &'r Resolved, printer: &Printer, seed: u64) -> Self {
        Self {
            resolved,
            printer: printer.clone(),
            seed,
            once: false,
            traffic: BTreeMap::new(),
        }
    }

    /// Makes one attempt at each call, for whoever wants to know what is wrong rather than to get through.
    pub(crate) fn asking_once(self) -> Self {
        Self { once: true, ..self }
    }

    /// The chat model that stands at `path` in the settings.
    pub(crate) async fn chat(&mut self, path: &str, model: &Model) -> Result<Arc<dyn ChatModel>> {
        let place = Place::of(self.resolved, path, model)?;
        let settings = place.chat_settings()?;
        let traffic = self.traffic(&place)?;
        Ok(match place.protocol {
            Protocol::Ollama => Arc::new(OllamaChat::connect(settings, traffic).await?),
            Protocol::OpenAi => {
                // Not every server lists its models, so that only silence counts.
                if let Err(error) = list_openai_models(settings.server.clone()).await
                    && error.is_unreachable()
                {
                    let reason = error.source().map(chain).unwrap_or_default();
                    bail!("`{}` cannot be used: {reason}", model.name);
                }
                let chat = OpenAiChat::new(settings, traffic);
                Arc::new(chat.map_err(|error| place.bad(&error))?)
            }
        })
    }

    /// The embedding model of the settings, which stands at `path`.
    pub(crate) async fn embedder(
        &mut self,
        path: &str,
        model: &Model,
    ) -> Result<Arc<dyn Embedder>> {
        let place = Place::of(self.resolved, path, model)?;
        let settings = place.embed_settings()?;
        let traffic = self.traffic(&place)?;
        Ok(match place.protocol {
            Protocol::Ollama => Arc::new(OllamaEmbedder::connect(settings, traffic).await?),
            Protocol::OpenAi => Arc::new(OpenAiEmbedder::connect(settings, traffic).await?),
        })
    }

    fn traffic(&mut self, place: &Place<'_>) -> Result<Arc<Traffic>> {
        let key = (place.protocol, place.base_url.clone());
        if let Some(traffic) = self.traffic.get(&key) {
            return Ok(Arc::clone(traffic));
        }
        let mut settings = place.traffic_settings(self.seed)?;
        if self.once {
            settings.max_attempts = NonZeroU32::MIN;
        }
        let printer = self.printer.clone();
        let traffic = Traffic::new(place.base_url.clone(), settings)
            .with_watch(Arc::new(move |line: &str| printer.note(line)));
        let traffic = Arc::new(traffic);
        self.traffic.insert(key, Arc::clone(&traffic));
        Ok(traffic)
    }
}

/// One model, and the server that has it.
#[derive(Debug)]
struct Place<'r> {
    resolved: &'r Resolved,
    /// Where the model stands in the settings.
    path: &'r str,
    model: &'r Model,
    provider: Provider,
    protocol: Protocol,
    base_url: String,
}

impl<'r> Place<'r> {
    fn of(resolved: &'r Resolved, path: &'r str, model: &'r Model) -> Result<Self, SettingsError> {
        let provider = resolved.settings.providers.get(&model.provider);
        let written = model
            .base_url
            .clone()
            .or_else(|| provider.and_then(|provider| provider.base_url.clone()));
        let (protocol, base_url) = match (model.provider.as_str(), written) {
            ("ollama", written) => (
                Protocol::Ollama,
                written.unwrap_or_else(|| OLLAMA.to_owned()),
            ),
            ("openai", written) => (
                Protocol::OpenAi,
                written.unwrap_or_else(|| OPENAI.to_owned()),
            ),
            // Any other name is the user's for a server that speaks OpenAI's protocol, as most do.
            (_, Some(written)) => (Protocol::OpenAi, written),
            (other, None) => {
                let message = format!(
                    "there is no provider `{other}`; use `ollama` or `openai`, or give `providers.{other}.base_url` the address \
                     of a server that speaks OpenAI's protocol"
                );
                return Err(resolved.bad_value(&format!("{path}.provider"), &message));
            }
        };
        Ok(Self {
            resolved,
            path,
            model,
            provider: provider.cloned().unwrap_or_default(),
            protocol,
            base_url: base_url.trim_end_matches('/').to_owned(),
        })
    }

    fn server(&self) -> Result<ServerSettings> {
        let base_url = BaseUrl::parse(&self.base_url).map_err(|error| {
            let path = if self.model.base_url.is_some() {
                format!("{}.base_url", self.path)
            } else {
                format!("providers.{}.base_url", self.model.provider)
            };
            self.resolved.bad_value(&path, &chain(&error))
        })?;
        let mut server = ServerSettings::new(base_url);
        server.api_key = self.key()?;
        if let Some(seconds) = self.model.timeout.or(self.provider.timeout) {
            server.timeout = self.seconds("timeout", seconds)?;
        }
        Ok(server)
    }

    /// The key that settings name, or OpenAI's own for OpenAI.
    fn key(&self) -> Result<Option<ApiKey>> {
        let named = self
            .model
            .api_key_env
            .as_deref()
            .or(self.provider.api_key_env.as_deref());
        let variable = match named {
            Some(variable) => variable,
            None if self.protocol == Protocol::OpenAi && self.base_url == OPENAI => OPENAI_KEY,
            None => return Ok(None),
        };
        let secret = env::var(variable).with_context(|| {
            format!(
                "`{}` needs a key for {}: set the environment variable `{variable}`, or name another one in \
                 `providers.{}.api_key_env`",
                self.model.name, self.base_url, self.model.provider
            )
        })?;
        Ok(Some(ApiKey::new(secret, variable)?))
    }

    fn chat_settings(&self) -> Result<ChatSettings> {
        let model = self.model;
        let mut settings = ChatSettings::new(self.server()?, &model.name);
        settings.temperature = model.temperature;
        settings.seed = model.seed;
        settings.max_tokens = model.max_tokens;
        settings
            .reasoning_effort
            .clone_from(&model.reasoning_effort);
        settings.num_ctx = model.num_ctx;
        settings.keep_alive.clone_from(&model.keep_alive);
        settings.think = model.think.map(think);
        settings.extra_body.clone_from(&model.extra_body);
        Ok(settings)
    }

    fn embed_settings(&self) -> Result<EmbedSettings> {
        let model = self.model;
        let mut settings = EmbedSettings::new(self.server()?, &model.name);
        settings.query_prefix = model.query_prefix.clone().unwrap_or_default();
        settings.document_prefix = model.document_prefix.clone().unwrap_or_default();
        settings.dimension = model.vector_dim.map_or(Dimension::Learn, Dimension::Expect);
        settings.keep_alive.clone_from(&model.keep_alive);
        settings.extra_body.clone_from(&model.extra_body);
        Ok(settings)
    }

    fn traffic_settings(&self, seed: u64) -> Result<TrafficSettings> {
        let defaults = match self.protocol {
            Protocol::Ollama => TrafficSettings::ollama(),
            Protocol::OpenAi => TrafficSettings::default(),
        };
        let provider = &self.provider;
        let mut settings = TrafficSettings {
            max_concurrency: self.model.max_concurrency.or(provider.max_concurrency),
            requests_per_minute: provider.requests_per_minute,
            tokens_per_minute: provider.tokens_per_minute,
            max_attempts: provider.max_attempts.unwrap_or(defaults.max_attempts),
            seed,
            ..defaults
        };
        if let Some(seconds) = self.model.timeout.or(provider.timeout) {
            settings.request_deadline = self.seconds("timeout", seconds)?;
        }
        let case_timeout = self.resolved.settings.evaluations.case_timeout;
        settings.call_deadline = duration(case_timeout).ok_or_else(|| {
            self.resolved.bad_value(
                "evaluations.case_timeout",
                &"it has to be more than 0 seconds",
            )
        })?;
        Ok(settings)
    }

    fn seconds(&self, field: &str, seconds: f64) -> Result<Duration, SettingsError> {
        duration(seconds).ok_or_else(|| {
            let path = format!("{}.{field}", self.path);
            self.resolved
                .bad_value(&path, &"it has to be more than 0 seconds")
        })
    }

    fn bad(&self, error: &(dyn Error + 'static)) -> SettingsError {
        self.resolved.bad_value(self.path, &chain(error))
    }
}

/// A time that a request can be given: more than nothing, and at most a day.
fn duration(seconds: f64) -> Option<Duration> {
    let sensible = seconds.is_finite() && seconds > 0.0;
    sensible.then(|| Duration::from_secs_f64(seconds.min(86_400.0)))
}

fn think(think: settings::Think) -> Think {
    match think {
        settings::Think::Whether(true) => Think::On,
        settings::Think::Whether(false) => Think::Off,
        settings::Think::HowMuch(Effort::Low) => Think::Low,
        settings::Think::HowMuch(Effort::Medium) => Think::Medium,
        settings::Think::HowMuch(Effort::High) => Think::High,
    }
}

/// An error with its causes, joined by colons.
fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    let messages: Vec<String> = causes.map(ToString::to_string).collect();
    messages.join(": ")
}
