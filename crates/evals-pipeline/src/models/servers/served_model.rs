//! A model behind a server: the server's address, its key and its time limit.

use std::env;
use std::error::Error;
use std::num::NonZeroUsize;
use std::time::Duration;

use anyhow::{Result, bail};
use evals_messages::chain;
use evals_messages::nearest;
use evals_providers::{ApiKey, BaseUrl, ServerSettings};
use evals_settings::redaction;
use evals_settings::{EMBEDDED, Protocol, Provider, Resolved, Role, SettingsError};

use crate::models::configured::Behind;

/// The default address of Ollama.
const OLLAMA: &str = "http://localhost:11434";

/// The default address of `openai`. Its key is sent nowhere else unless the settings say so.
const OPENAI: &str = "https://api.openai.com/v1";
const OPENAI_KEY: &str = "OPENAI_API_KEY";

/// A model with its server.
#[derive(Debug)]
pub(super) struct ServedModel<'r> {
    pub(super) resolved: &'r Resolved,
    pub(super) model: Behind<'r>,
    pub(super) provider: Provider,
    pub(super) base_url: BaseUrl,
    /// The provider's own address, which its key is for.
    home: Option<BaseUrl>,
}

impl<'r> ServedModel<'r> {
    /// Refuses a model without an address.
    pub(super) fn of(resolved: &'r Resolved, model: Behind<'r>) -> Result<Self, SettingsError> {
        let provider = resolved.settings.providers.get(model.provider);
        let written = provider.and_then(|provider| provider.base_url.as_deref());
        let usual = match model.protocol {
            Protocol::Ollama => Some(OLLAMA),
            // Any other name stands for a server of the user's, which has no default address.
            Protocol::OpenAi => (model.provider == "openai").then_some(OPENAI),
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
        let own = model.connection.base_url.as_deref();
        let own = own.map(|text| parse(text, model.path("base_url")));
        let Some(base_url) = own.transpose()?.or_else(|| home.clone()) else {
            return Err(resolved.bad_value(&model.path("provider"), &unknown(resolved, model)));
        };
        Ok(Self {
            resolved,
            model,
            provider: provider.cloned().unwrap_or_default(),
            base_url,
            home,
        })
    }

    /// The settings of every request to the model.
    pub(super) fn server(&self) -> Result<ServerSettings> {
        let mut server = ServerSettings::new(self.base_url.clone());
        server.api_key = self.key()?;
        server.provider = Some(self.model.provider.to_owned());
        if let Some(timeout) = self.timeout()? {
            server.timeout = timeout;
        }
        Ok(server)
    }

    /// The environment variable that holds the key: the model's own, else the provider's if the model is at the provider's address,
    /// else `OPENAI_API_KEY` if the model is at OpenAI's.
    fn key_variable(&self) -> Option<&str> {
        let is_at = |home: &BaseUrl| self.base_url.has_origin_of(home);
        let is_at_home = self.home.as_ref().is_some_and(is_at);
        let provider = self.provider.api_key_env.as_deref();
        let named = self.model.connection.api_key_env.as_deref();
        named.or(provider.filter(|_| is_at_home)).or_else(|| {
            let openai = BaseUrl::parse(OPENAI).is_ok_and(|openai| self.base_url == openai);
            (self.model.protocol == Protocol::OpenAi && openai).then_some(OPENAI_KEY)
        })
    }

    fn key(&self) -> Result<Option<ApiKey>> {
        let Some(variable) = self.key_variable() else {
            return Ok(None);
        };
        // The cause is left out, because for a value that is not Unicode it holds the value.
        let Ok(secret) = env::var(variable) else {
            bail!(
                "`{}` needs a key for {}: set the environment variable `{variable}`, or name a different one in \
                 `providers.{}.api_key_env`",
                self.model.name,
                self.base_url,
                self.model.provider
            );
        };
        redaction::hide(&secret);
        Ok(Some(ApiKey::new(secret, variable)?))
    }

    /// The limit on calls at the same time, from the model's settings or its provider's.
    pub(super) fn max_concurrency(&self) -> Option<NonZeroUsize> {
        let own = self.model.connection.max_concurrency;
        own.or(self.provider.max_concurrency)
    }

    /// The longest wait for one request, from the model's settings or its provider's.
    fn timeout(&self) -> Result<Option<Duration>, SettingsError> {
        let own = self.model.connection.timeout;
        let own = own.map(|seconds| (seconds, self.model.path("timeout")));
        let provider = self.provider.timeout.map(|seconds| {
            let path = format!("providers.{}.timeout", self.model.provider);
            (seconds, path)
        });
        let Some((seconds, path)) = own.or(provider) else {
            return Ok(None);
        };
        let timeout = duration(seconds);
        let bad = || {
            self.resolved
                .bad_value(&path, &"must be more than 0 seconds")
        };
        timeout.ok_or_else(bad).map(Some)
    }

    /// The error of a model whose settings a client refuses.
    pub(super) fn bad(&self, error: &(dyn Error + 'static)) -> SettingsError {
        self.resolved
            .bad_value(self.model.role.path(), &chain(error))
    }
}

/// The message for a provider that has no address, with the one that was probably meant.
fn unknown(resolved: &Resolved, model: Behind<'_>) -> String {
    let other = model.provider;
    let in_process: &[&str] = match model.role {
        Role::Embedder => &[EMBEDDED, "local"],
        Role::Answerer | Role::Judge => &[EMBEDDED],
        // The built-in chat model can neither rerank nor rewrite nor play a user.
        Role::Reranker | Role::Rewriter | Role::User => &[],
    };
    let configured = resolved.settings.providers.iter();
    let configured = configured.filter(|(_, provider)| provider.base_url.is_some());
    let known = in_process
        .iter()
        .copied()
        .chain(["ollama", "openai"])
        .chain(configured.map(|(name, _)| name.as_str()));
    let suggestion = nearest::did_you_mean(nearest::of(other, known));
    format!(
        "unknown provider `{other}`; use `ollama` or `openai`, or set `providers.{other}.base_url` to the address of a server that speaks \
         OpenAI's protocol{suggestion}"
    )
}

/// A time limit of a request; `None` where it is not more than 0. A limit above a day is cut to a day.
pub(super) fn duration(seconds: f64) -> Option<Duration> {
    let sensible = seconds.is_finite() && seconds > 0.0;
    sensible.then(|| Duration::from_secs_f64(seconds.min(86_400.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::ConfiguredModels;
    use evals_settings::{Layer, resolve};

    fn resolved(assignments: &[&str]) -> Resolved {
        let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
        let layer = Layer::assignments(&assignments).unwrap();
        resolve(layer.into_iter().collect()).unwrap()
    }

    fn served<'r>(
        resolved: &'r Resolved,
        model: Option<Behind<'r>>,
    ) -> Result<ServedModel<'r>, SettingsError> {
        ServedModel::of(resolved, model.unwrap())
    }

    /// The environment variable that the answering model takes its key from.
    fn key_variable(assignments: &[&str]) -> Option<String> {
        let resolved = resolved(assignments);
        let models = ConfiguredModels::of(&resolved.settings);
        let answerer = served(&resolved, models.answerer.server()).unwrap();
        answerer.key_variable().map(str::to_owned)
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
        let models = ConfiguredModels::of(&resolved.settings);
        let answerer = served(&resolved, models.answerer.server()).unwrap();
        let error = answerer.key().unwrap_err();
        assert_eq!(
            format!("{error:#}"),
            "`m` needs a key for https://api.openai.com/v1: set the environment variable `NO_SUCH_KEY`, or name a different one \
             in `providers.openai.api_key_env`"
        );
        assert_eq!(error.chain().len(), 1, "a cause may hold the value");
    }

    #[test]
    fn a_misspelt_provider_gets_a_suggestion() {
        let message = |path: &'static str, provider: &str| {
            let (provider, name) = match path {
                "reranking.model" => ("llm", format!("{provider}:m")),
                _ => (provider, "m".to_owned()),
            };
            let set = [
                format!("{path}.provider={provider}"),
                format!("{path}.name={name}"),
            ];
            let resolved = resolved(&[
                &set[0],
                &set[1],
                "providers.groq.base_url=http://localhost:1/v1",
            ]);
            let models = ConfiguredModels::of(&resolved.settings);
            let model = match path {
                "qa.model" => models.answerer.server(),
                "embeddings.model" => models.embedder.server(),
                _ => models.reranker.as_ref().unwrap().server(),
            };
            served(&resolved, model).unwrap_err().to_string()
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
        let reranker = |provider| suggestion("reranking.model", provider);
        assert_eq!(reranker("grok").as_deref(), Some("`groq`?"));
        assert_eq!(
            reranker("embeded"),
            None,
            "no reranker is part of the program"
        );
    }

    #[test]
    fn a_bad_timeout_is_placed_where_it_is_written() {
        let message = |set: &str| {
            let resolved = resolved(&[&OPENAI_MODEL[..], &[set]].concat());
            let models = ConfiguredModels::of(&resolved.settings);
            let answerer = served(&resolved, models.answerer.server()).unwrap();
            answerer.timeout().unwrap_err().to_string()
        };
        assert_eq!(
            message("providers.openai.timeout=0"),
            "`--set`: bad value for `providers.openai.timeout`: must be more than 0 seconds"
        );
        assert_eq!(
            message("qa.model.timeout=-1"),
            "`--set`: bad value for `qa.model.timeout`: must be more than 0 seconds"
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
        let models = ConfiguredModels::of(&resolved.settings);
        let answerer = served(&resolved, models.answerer.server()).unwrap();
        let written = serde_json::to_value(&resolved.settings).unwrap();
        assert!(!format!("{answerer:?}").contains("base_url: Url"));
        assert_eq!(written["qa"]["model"]["base_url"], "http://localhost:1");
        assert_eq!(
            written["providers"]["ollama"]["base_url"],
            "http://localhost:2"
        );
        assert!(!written.to_string().contains("hunter2"), "{written}");
    }
}
