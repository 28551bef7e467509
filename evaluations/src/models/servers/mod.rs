//! Models as settings name them, opened. Those at one address share its traffic: its limits, its retries, its failures.

mod place;

use std::collections::BTreeMap;
use std::error::Error;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use evals_models::{ChatModel, Embedder};
use evals_providers::{
    ConnectError, HttpReranker, OllamaChat, OllamaEmbedder, OpenAiChat, OpenAiEmbedder,
    RerankSettings, ServerSettings, Traffic, list_openai_models,
};
use evals_stores::store::Watch;

use self::place::Place;
use crate::choices;
use crate::command::Interruption;
use crate::models::reranker;
use crate::printer::Printer;
use crate::quantity;
use crate::settings::{Model, Resolved, SettingsError};

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
    interruption: Option<Interruption>,
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
            interruption: None,
            traffic: BTreeMap::new(),
        }
    }

    /// Has `interruption` close the traffic and wait for what was sent.
    pub(crate) fn minded_by(self, interruption: &Interruption) -> Self {
        let interruption = Some(interruption.clone());
        Self {
            interruption,
            ..self
        }
    }

    /// Says what is waited for.
    pub(crate) fn watch(&self) -> Watch {
        self.printer.watch()
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

    /// Refuses a model at `path` whose provider there is not, without asking anybody.
    pub(crate) fn check(
        resolved: &'r Resolved,
        path: &'r str,
        model: &'r Model,
    ) -> Result<(), SettingsError> {
        if choices::is_embedded(model) || choices::is_local(model) {
            return Ok(());
        }
        Place::of(resolved, path, model).map(drop)
    }

    /// The address of a model behind a server that may tell no digest of its weights; `None` where the model's identity is enough.
    pub(crate) fn undigested_place(
        &self,
        path: &str,
        model: &Model,
    ) -> Result<Option<String>, SettingsError> {
        if choices::is_embedded(model) || choices::is_local(model) {
            return Ok(None);
        }
        let place = Place::of(self.resolved, path, model)?;
        let openai = place.protocol == Protocol::OpenAi;
        Ok(openai.then(|| place.base_url.to_string()))
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
                "`{}` is not among the {} that `{}` lists",
                model.name,
                quantity::of(models.len(), "model"),
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
        let place = Place::of(self.resolved, reranker::PATH, model)?;
        let mut settings = RerankSettings::new(place.server()?, &model.name);
        settings.max_batch = batch_size;
        settings.extra_body.clone_from(&model.extra_body);
        let traffic = self.traffic(&place)?;
        Ok(HttpReranker::connect(settings, traffic).await?)
    }

    /// What scores of the reranker in the settings depend on besides its name: the address of its server, and what else is sent.
    pub(crate) fn rerank_place(&self, model: &Model) -> Result<String, SettingsError> {
        let place = Place::of(self.resolved, reranker::PATH, model)?;
        if model.extra_body.is_empty() {
            return Ok(place.base_url.to_string());
        }
        let extra_body = serde_json::Value::from(model.extra_body.clone());
        Ok(format!("{} extra_body={extra_body}", place.base_url))
    }

    /// The traffic with each server so far.
    pub(crate) fn traffic_so_far(&self) -> Vec<Arc<Traffic>> {
        self.traffic.values().map(Arc::clone).collect()
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
        let traffic = Traffic::new(address, settings).with_watch(self.printer.watch());
        let traffic = Arc::new(traffic);
        if let Some(interruption) = &self.interruption {
            interruption.mind(&traffic);
        }
        self.traffic.insert(key, Arc::clone(&traffic));
        Ok(traffic)
    }
}

/// An error with its causes, joined by colons.
fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    let messages: Vec<String> = causes.map(ToString::to_string).collect();
    messages.join(": ")
}
