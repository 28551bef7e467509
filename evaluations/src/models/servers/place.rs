//! What settings say of one model behind a server.

use std::borrow::Cow;
use std::env;
use std::error::Error;
use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::{Result, bail};
use evals_providers::{
    ApiKey, BaseUrl, ChatSettings, Dimension, EmbedSettings, ServerSettings, Think, TrafficSettings,
};

use super::{Protocol, chain};
use crate::models::reranker;
use crate::nearest;
use crate::settings::{self, Effort, Model, Provider, Resolved, SettingsError};

/// Where Ollama listens unless settings say otherwise.
const OLLAMA: &str = "http://localhost:11434";

/// OpenAI itself, the only server that its key is ever sent to without being asked for.
const OPENAI: &str = "https://api.openai.com/v1";
const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// One model, and the server that has it.
#[derive(Debug)]
pub(super) struct Place<'r> {
    resolved: &'r Resolved,
    /// Where the model stands in the settings.
    path: &'r str,
    model: Cow<'r, Model>,
    provider: Provider,
    pub(super) protocol: Protocol,
    pub(super) base_url: BaseUrl,
    /// The provider's own address, which its key is for.
    home: Option<BaseUrl>,
}

impl<'r> Place<'r> {
    pub(super) fn of(
        resolved: &'r Resolved,
        path: &'r str,
        model: &'r Model,
    ) -> Result<Self, SettingsError> {
        Self::at(resolved, path, Cow::Borrowed(model))
    }

    fn at(
        resolved: &'r Resolved,
        path: &'r str,
        model: Cow<'r, Model>,
    ) -> Result<Self, SettingsError> {
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
            let message = unknown(resolved, path, &model.provider);
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

    pub(super) fn server(&self) -> Result<ServerSettings> {
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

    pub(super) fn chat_settings(&self) -> Result<ChatSettings> {
        let model = &self.model;
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

    pub(super) fn embed_settings(&self) -> Result<EmbedSettings> {
        let model = &self.model;
        let mut settings = EmbedSettings::new(self.server()?, &model.name);
        settings.query_prefix = model.query_prefix.clone().unwrap_or_default();
        settings.document_prefix = model.document_prefix.clone().unwrap_or_default();
        settings.dimension = model.vector_dim.map_or(Dimension::Learn, Dimension::Expect);
        settings.max_tokens = model.max_tokens.and_then(|most| most.try_into().ok());
        settings.keep_alive.clone_from(&model.keep_alive);
        settings.extra_body.clone_from(&model.extra_body);
        Ok(settings)
    }

    pub(super) fn traffic_settings(&self, seed: u64) -> Result<TrafficSettings> {
        let defaults = match self.protocol {
            Protocol::Ollama => TrafficSettings::ollama(),
            Protocol::OpenAi => TrafficSettings::default(),
        };
        // The models at one server share its traffic, so that the strictest of what is set for any of them holds, whichever of
        // them is opened first.
        let models = Self::all(self.resolved);
        let here: Vec<&Self> = models
            .iter()
            .filter(|place| place.shares_server(self))
            .collect();
        let here = || here.iter().copied().chain([self]);
        let mut settings = TrafficSettings {
            max_concurrency: here().filter_map(Self::max_concurrency).min(),
            requests_per_minute: here()
                .filter_map(|place| place.provider.requests_per_minute)
                .min(),
            tokens_per_minute: here()
                .filter_map(|place| place.provider.tokens_per_minute)
                .min(),
            max_attempts: here()
                .filter_map(|place| place.provider.max_attempts)
                .min()
                .unwrap_or(defaults.max_attempts),
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

    /// Every model of the settings that is behind a server.
    fn all(resolved: &'r Resolved) -> Vec<Self> {
        let settings = &resolved.settings;
        let models = [
            ("qa.model", Some(Cow::Borrowed(&settings.qa.model))),
            (
                "evaluations.judge",
                Some(Cow::Borrowed(&settings.evaluations.judge)),
            ),
            (
                "embeddings.model",
                Some(Cow::Borrowed(&settings.embeddings.model)),
            ),
            (
                "reranking.model",
                settings.reranking.model.as_ref().map(served_reranker),
            ),
        ];
        let places = models
            .into_iter()
            .filter_map(|(path, model)| Self::at(resolved, path, model?).ok());
        places.collect()
    }

    /// Whether both are asked through the same traffic.
    fn shares_server(&self, other: &Self) -> bool {
        self.protocol == other.protocol && self.base_url.to_string() == other.base_url.to_string()
    }

    /// The calls at once that are set for the model, or for its provider.
    fn max_concurrency(&self) -> Option<NonZeroUsize> {
        self.model.max_concurrency.or(self.provider.max_concurrency)
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

    pub(super) fn bad(&self, error: &(dyn Error + 'static)) -> SettingsError {
        self.resolved.bad_value(self.path, &chain(error))
    }
}

/// The model behind a server that a reranker asks: the chat model that it names, or itself.
fn served_reranker(reranker: &Model) -> Cow<'_, Model> {
    reranker::chat_model(reranker).map_or(Cow::Borrowed(reranker), Cow::Owned)
}

/// What to say of a provider that there is not, with the one that was probably meant.
fn unknown(resolved: &Resolved, path: &str, other: &str) -> String {
    // Rerankers name their providers otherwise, and judges and answerers have no local ones.
    let in_process: &[&str] = match path {
        "embeddings.model" => &["embedded", "local"],
        _ => &["embedded"],
    };
    let configured = resolved.settings.providers.iter();
    let configured = configured.filter(|(_, provider)| provider.base_url.is_some());
    let known = in_process
        .iter()
        .copied()
        .chain(["ollama", "openai"])
        .chain(configured.map(|(name, _)| name.as_str()));
    let suggestion = nearest::of(other, known).map_or_else(String::new, |nearest| {
        format!("; did you mean `{nearest}`?")
    });
    format!(
        "there is no provider `{other}`; use `ollama` or `openai`, or give `providers.{other}.base_url` the address of a server that \
         speaks OpenAI's protocol{suggestion}"
    )
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
    fn a_missing_key_says_where_it_is_looked_for() {
        let resolved =
            resolved(&[&OPENAI_MODEL[..], &["qa.model.api_key_env=NO_SUCH_KEY"]].concat());
        let place = Place::of(&resolved, "qa.model", &resolved.settings.qa.model).unwrap();
        let error = place.key().unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "`m` needs a key for https://api.openai.com/v1: set the environment variable `NO_SUCH_KEY`, or name another one \
             in `providers.openai.api_key_env`"
        );
        assert_eq!(error.chain().len(), 1, "a cause may hold the value");
    }

    /// What the models at `paths` let through, each as if it were opened first.
    fn traffic(paths: &[&str], set: &[&str]) -> Vec<TrafficSettings> {
        let resolved = resolved(set);
        let models = Place::all(&resolved);
        let of = |path: &&str| {
            let place = models.iter().find(|place| place.path == *path).unwrap();
            place.traffic_settings(0).unwrap()
        };
        paths.iter().map(of).collect()
    }

    #[test]
    fn models_at_one_server_share_the_smallest_concurrency() {
        let at_once = |more: &[&str]| {
            let both = [
                "evaluations.judge.provider=openai",
                "evaluations.judge.name=j",
                "qa.model.max_concurrency=64",
            ];
            let set = [&OPENAI_MODEL, &both[..], more].concat();
            traffic(&["qa.model"], &set)[0]
                .max_concurrency
                .map(NonZeroUsize::get)
        };
        assert_eq!(at_once(&[]), Some(64));
        let judge = "evaluations.judge.max_concurrency=8";
        assert_eq!(at_once(&[judge]), Some(8));
        let elsewhere = "evaluations.judge.base_url=http://localhost:1/v1";
        assert_eq!(at_once(&[judge, elsewhere]), Some(64));
    }

    #[test]
    fn limits_do_not_depend_on_which_model_is_opened_first() {
        let settings = traffic(
            &["embeddings.model", "reranking.model", "qa.model"],
            &[
                "embeddings.model={provider: mine, name: e}",
                "reranking.model={provider: llm, name: \"openai:r\", base_url: \"http://localhost:1/v1\", max_concurrency: 2}",
                "qa.model={provider: other, name: q}",
                "providers.mine={base_url: \"http://localhost:1/v1\", requests_per_minute: 60, max_attempts: 3}",
                "providers.other={base_url: \"http://localhost:1/v1/\", requests_per_minute: 90, tokens_per_minute: 7}",
            ],
        );
        for one in settings {
            assert_eq!(one.max_concurrency.map(NonZeroUsize::get), Some(2));
            assert_eq!(
                one.requests_per_minute.map(std::num::NonZero::get),
                Some(60)
            );
            assert_eq!(one.tokens_per_minute.map(std::num::NonZero::get), Some(7));
            assert_eq!(one.max_attempts.get(), 3);
        }
    }

    #[test]
    fn a_misspelt_provider_is_told_the_nearest() {
        let message = |path: &'static str, provider: &str| {
            let set = [
                format!("{path}.provider={provider}"),
                format!("{path}.name=m"),
            ];
            let resolved = resolved(&[
                &set[0],
                &set[1],
                "providers.groq.base_url=http://localhost:1/v1",
            ]);
            let settings = &resolved.settings;
            let model = match path {
                "qa.model" => &settings.qa.model,
                _ => &settings.embeddings.model,
            };
            Place::of(&resolved, path, model).unwrap_err().to_string()
        };
        let suggestion = |path, provider| {
            let message = message(path, provider);
            message
                .rsplit_once("did you mean ")
                .map(|(_, name)| name.to_owned())
        };
        assert_eq!(
            suggestion("embeddings.model", "lokal").as_deref(),
            Some("`local`?")
        );
        assert_eq!(
            suggestion("qa.model", "embeded").as_deref(),
            Some("`embedded`?")
        );
        assert_eq!(suggestion("qa.model", "grok").as_deref(), Some("`groq`?"));
        assert_eq!(suggestion("qa.model", "anthropic"), None);
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
