//! Models as settings name them, opened. Those at one address share its traffic: its limits, its retries, its failures.

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use evals_models::http::{
    ApiKey, BaseUrl, ChatSettings, ConnectError, Dimension, EmbedSettings, HttpReranker,
    OllamaChat, OllamaEmbedder, OpenAiChat, OpenAiEmbedder, RerankSettings, ServerSettings, Think,
    Traffic, TrafficSettings, list_openai_models,
};
use evals_models::{ChatModel, Embedder};

use crate::printer::Printer;
use crate::rerankers;
use crate::settings::{self, Effort, Model, Provider, Resolved, SettingsError};

/// Where Ollama listens unless settings say otherwise.
const OLLAMA: &str = "http://localhost:11434";

/// OpenAI itself, the only server that its key is ever sent to without being asked for.
const OPENAI: &str = "https://api.openai.com/v1";
const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// The longest wait for a server's list of models, and the pause before it is asked for once more.
const LISTING: Duration = Duration::from_secs(10);
const BEFORE_SECOND_LISTING: Duration = Duration::from_millis(500);

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
    /// By protocol and address, as it is shown.
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
                let mut settings = settings;
                settings.server.digest = self.listed(model, &settings.server).await?;
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
            Protocol::OpenAi => {
                let mut settings = settings;
                settings.server.digest = self.listed(model, &settings.server).await?;
                Arc::new(OpenAiEmbedder::connect(settings, traffic).await?)
            }
        })
    }

    /// Sees that a server is there and takes the key, and returns what its list of models tells of this one.
    ///
    /// Not every server has such a list, and some have models that are not in it.
    async fn listed(&self, model: &Model, server: &ServerSettings) -> Result<Option<String>> {
        let asked = ServerSettings {
            timeout: server.timeout.min(LISTING),
            ..server.clone()
        };
        let mut listed = list_openai_models(asked.clone()).await;
        if listed.as_ref().is_err_and(ConnectError::is_transient) {
            tokio::time::sleep(BEFORE_SECOND_LISTING).await;
            listed = list_openai_models(asked).await;
        }
        let models = match listed {
            Ok(models) => models,
            Err(error) if error.is_unreachable() || error.refuses_key() => {
                let reason = error.source().map(chain).unwrap_or_default();
                bail!("`{}` cannot be used: {reason}", model.name);
            }
            Err(_) => return Ok(None),
        };
        let found = models.iter().find(|served| served.name == model.name);
        if found.is_none() && !models.is_empty() {
            self.printer.note(&format!(
                "`{}` is not among the {} models that `{}` lists",
                model.name,
                models.len(),
                server.base_url
            ));
        }
        Ok(found.and_then(|served| served.digest.clone()))
    }

    /// The reranker behind a server that stands in the settings, at most `batch_size` texts at once.
    pub(crate) async fn reranker(
        &mut self,
        model: &Model,
        batch_size: NonZeroUsize,
    ) -> Result<HttpReranker> {
        let place = Place::of(self.resolved, rerankers::PATH, model)?;
        let mut settings = RerankSettings::new(place.server()?, &model.name);
        settings.max_batch = batch_size;
        settings.extra_body.clone_from(&model.extra_body);
        let traffic = self.traffic(&place)?;
        Ok(HttpReranker::connect(settings, traffic).await?)
    }

    fn traffic(&mut self, place: &Place<'_>) -> Result<Arc<Traffic>> {
        let address = place.base_url.to_string();
        let key = (place.protocol, address.clone());
        // Whoever asks once wants to know of each model what is wrong with it.
        if let Some(traffic) = self.traffic.get(&key).filter(|_| !self.once) {
            return Ok(Arc::clone(traffic));
        }
        let mut settings = place.traffic_settings(self.seed)?;
        if self.once {
            settings.max_attempts = NonZeroU32::MIN;
        }
        let printer = self.printer.clone();
        let traffic = Traffic::new(address, settings)
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
    base_url: BaseUrl,
    /// The provider's own address, which its key is for.
    home: Option<BaseUrl>,
}

impl<'r> Place<'r> {
    fn of(resolved: &'r Resolved, path: &'r str, model: &'r Model) -> Result<Self, SettingsError> {
        let provider = resolved.settings.providers.get(&model.provider);
        let written = provider.and_then(|provider| provider.base_url.as_deref());
        let (protocol, usual) = match model.provider.as_str() {
            "ollama" => (Protocol::Ollama, Some(OLLAMA)),
            "openai" => (Protocol::OpenAi, Some(OPENAI)),
            // Any other name is the user's for a server that speaks OpenAI's protocol, as most do.
            _ => (Protocol::OpenAi, None),
        };
        let parse = |text: &str, path: String| {
            let parsed = BaseUrl::parse(text);
            parsed.map_err(|error| resolved.bad_value(&path, &chain(&error)))
        };
        let home = written.or(usual).map(|text| {
            let path = format!("providers.{}.base_url", model.provider);
            parse(text, path)
        });
        let home = home.transpose()?;
        let own = model.base_url.as_deref();
        let own = own.map(|text| parse(text, format!("{path}.base_url")));
        let Some(base_url) = own.transpose()?.or_else(|| home.clone()) else {
            let other = &model.provider;
            let message = format!(
                "there is no provider `{other}`; use `ollama` or `openai`, or give `providers.{other}.base_url` the address \
                 of a server that speaks OpenAI's protocol"
            );
            return Err(resolved.bad_value(&format!("{path}.provider"), &message));
        };
        Ok(Self {
            resolved,
            path,
            model,
            provider: provider.cloned().unwrap_or_default(),
            protocol,
            base_url,
            home,
        })
    }

    fn server(&self) -> Result<ServerSettings> {
        let mut server = ServerSettings::new(self.base_url.clone());
        server.api_key = self.key()?;
        server.provider = Some(self.model.provider.clone());
        if let Some(timeout) = self.timeout()? {
            server.timeout = timeout;
        }
        Ok(server)
    }

    /// The variable of the key: the model's own; else the provider's, where the model is at the provider's; else OpenAI's, for
    /// OpenAI.
    fn key_variable(&self) -> Option<&str> {
        let at_home = |home: &BaseUrl| self.base_url.has_origin_of(home);
        let at_home = self.home.as_ref().is_some_and(at_home);
        let provider = self.provider.api_key_env.as_deref();
        let named = self.model.api_key_env.as_deref();
        named.or(provider.filter(|_| at_home)).or_else(|| {
            let openai = BaseUrl::parse(OPENAI).is_ok_and(|openai| self.base_url == openai);
            (self.protocol == Protocol::OpenAi && openai).then_some(OPENAI_KEY)
        })
    }

    fn key(&self) -> Result<Option<ApiKey>> {
        let Some(variable) = self.key_variable() else {
            return Ok(None);
        };
        // The reason is left out: of a value that is no text it is the value.
        let Ok(secret) = env::var(variable) else {
            bail!(
                "`{}` needs a key for {}: set the environment variable `{variable}`, or name another one in \
                 `providers.{}.api_key_env`",
                self.model.name,
                self.base_url,
                self.model.provider
            );
        };
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
        settings.max_tokens = model.max_tokens.and_then(|most| most.try_into().ok());
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
            max_concurrency: self.max_concurrency(),
            requests_per_minute: provider.requests_per_minute,
            tokens_per_minute: provider.tokens_per_minute,
            max_attempts: provider.max_attempts.unwrap_or(defaults.max_attempts),
            seed,
            ..defaults
        };
        let case_timeout = self.resolved.settings.evaluations.case_timeout;
        settings.call_deadline = duration(case_timeout).ok_or_else(|| {
            self.resolved.bad_value(
                "evaluations.case_timeout",
                &"it has to be more than 0 seconds",
            )
        })?;
        Ok(settings)
    }

    /// The smallest number of calls at once that is set for any of the models at this server, which share it.
    fn max_concurrency(&self) -> Option<NonZeroUsize> {
        let settings = &self.resolved.settings;
        let models = [
            ("qa.model", Some(&settings.qa.model)),
            ("evaluations.judge", Some(&settings.evaluations.judge)),
            ("embeddings.model", Some(&settings.embeddings.model)),
            ("reranking.model", settings.reranking.model.as_ref()),
        ];
        let places = models.into_iter().filter_map(|(path, model)| {
            let place = Place::of(self.resolved, path, model?).ok()?;
            (place.base_url.to_string() == self.base_url.to_string()).then_some(place)
        });
        let set = |place: &Self| {
            place
                .model
                .max_concurrency
                .or(place.provider.max_concurrency)
        };
        let others = places.filter_map(|place| set(&place));
        others.chain(set(self)).min()
    }

    /// The longest wait for one request, where it is set.
    fn timeout(&self) -> Result<Option<Duration>, SettingsError> {
        let own = self
            .model
            .timeout
            .map(|seconds| (seconds, self.path.to_owned()));
        let provider = self.provider.timeout.map(|seconds| {
            let path = format!("providers.{}", self.model.provider);
            (seconds, path)
        });
        let Some((seconds, path)) = own.or(provider) else {
            return Ok(None);
        };
        let timeout = duration(seconds).ok_or_else(|| {
            let path = format!("{path}.timeout");
            self.resolved
                .bad_value(&path, &"it has to be more than 0 seconds")
        });
        timeout.map(Some)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Layer, resolve};

    fn resolved(assignments: &[&str]) -> Resolved {
        let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
        let layer = Layer::assignments(&assignments).unwrap();
        resolve(layer.into_iter().collect()).unwrap()
    }

    /// The variable whose key the answering model is given.
    fn key_variable(assignments: &[&str]) -> Option<String> {
        let resolved = resolved(assignments);
        let place = Place::of(&resolved, "qa.model", &resolved.settings.qa.model).unwrap();
        place.key_variable().map(str::to_owned)
    }

    const OPENAI_MODEL: [&str; 2] = ["qa.model.provider=openai", "qa.model.name=m"];

    #[test]
    fn a_providers_key_is_sent_to_the_provider_alone() {
        let key = |more: &[&str]| key_variable(&[&OPENAI_MODEL, more].concat());
        let named = "providers.openai.api_key_env=MINE";
        assert_eq!(key(&[named]).as_deref(), Some("MINE"));
        assert_eq!(key(&[]).as_deref(), Some("OPENAI_API_KEY"));
        let elsewhere = "qa.model.base_url=https://evil.example/v1";
        assert_eq!(key(&[named, elsewhere]), None);
        assert_eq!(key(&[elsewhere]), None);
        let home = "providers.openai.base_url=https://proxy.example/openai/v1";
        let other_path = "qa.model.base_url=https://proxy.example/eu/v1";
        assert_eq!(key(&[named, home, other_path]).as_deref(), Some("MINE"));
        assert_eq!(key(&[named, home, elsewhere]), None);
        let own = "qa.model.api_key_env=OWN";
        assert_eq!(key(&[named, elsewhere, own]).as_deref(), Some("OWN"));
    }

    #[test]
    fn a_variable_that_is_no_text_is_not_shown() {
        // No variable of this name can exist, which fails as one that is no text does.
        let resolved =
            resolved(&[&OPENAI_MODEL[..], &["qa.model.api_key_env=NO_SUCH_KEY"]].concat());
        let place = Place::of(&resolved, "qa.model", &resolved.settings.qa.model).unwrap();
        let error = place.key().unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "`m` needs a key for https://api.openai.com/v1: set the environment variable `NO_SUCH_KEY`, or name another one \
             in `providers.openai.api_key_env`"
        );
        assert_eq!(error.chain().len(), 1, "a cause would hold the value");
    }

    #[test]
    fn models_at_one_server_share_the_smallest_concurrency_and_keep_their_timeouts() {
        let at_once = |more: &[&str]| {
            let both = [
                "evaluations.judge.provider=openai",
                "evaluations.judge.name=j",
                "qa.model.max_concurrency=64",
            ];
            let resolved = resolved(&[&OPENAI_MODEL, &both[..], more].concat());
            let place = Place::of(&resolved, "qa.model", &resolved.settings.qa.model).unwrap();
            place.max_concurrency().map(NonZeroUsize::get)
        };
        assert_eq!(at_once(&[]), Some(64));
        let judge = "evaluations.judge.max_concurrency=8";
        assert_eq!(at_once(&[judge]), Some(8));
        let elsewhere = "evaluations.judge.base_url=http://localhost:1/v1";
        assert_eq!(at_once(&[judge, elsewhere]), Some(64));
    }

    #[test]
    fn a_bad_timeout_is_placed_where_it_is_written() {
        let message = |set: &str| {
            let resolved = resolved(&[&OPENAI_MODEL[..], &[set]].concat());
            let place = Place::of(&resolved, "qa.model", &resolved.settings.qa.model).unwrap();
            place.timeout().unwrap_err().to_string()
        };
        assert_eq!(
            message("providers.openai.timeout=0"),
            "`--set`: bad value for `providers.openai.timeout`: it has to be more than 0 seconds"
        );
        assert_eq!(
            message("qa.model.timeout=-1"),
            "`--set`: bad value for `qa.model.timeout`: it has to be more than 0 seconds"
        );
    }

    #[test]
    fn a_password_is_shown_nowhere() {
        let resolved = resolved(&[
            "qa.model.provider=ollama",
            "qa.model.name=m",
            "qa.model.base_url=http://me:hunter2@localhost:1",
            "providers.ollama.base_url=http://me:hunter2@localhost:2/",
        ]);
        let place = Place::of(&resolved, "qa.model", &resolved.settings.qa.model).unwrap();
        let written = serde_json::to_value(&resolved.settings).unwrap();
        assert!(!format!("{place:?}").contains("base_url: Url"));
        assert_eq!(written["qa"]["model"]["base_url"], "http://localhost:1");
        assert_eq!(
            written["providers"]["ollama"]["base_url"],
            "http://localhost:2"
        );
        assert!(!written.to_string().contains("hunter2"), "{written}");
    }
}
