//! Opens models behind servers. Models at one address share its [`Traffic`]: its limits, retries and failures.

mod limits;
mod pull;
mod requests;
mod served_model;
mod targets;

use std::collections::BTreeMap;
use std::error::Error as _;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Error, Result, bail};
use evals_messages::chain;
use evals_messages::quantity;
use evals_models::{ChatModel, Embedder};
use evals_providers::{
    ConnectError, HttpEmbedder, HttpReranker, OllamaChat, OllamaModels, OpenAiChat, ServerSettings,
    Traffic, list_openai_models,
};
use evals_settings::{EmbedderKind, ModelKind, Protocol, Resolved, SettingsError};
use evals_terminal::Printer;

pub use self::targets::prompted;

use self::served_model::ServedModel;
use super::configured::{
    ConfiguredChat, ConfiguredEmbedder, ConfiguredModel, ConfiguredModels, ConfiguredReranker,
    other_dimension,
};
use crate::interruption::Interruption;

/// The longest wait for a server's list of models, and the pause before the second and last request for it.
const LISTING: Duration = Duration::from_secs(10);
const BEFORE_SECOND_LISTING: Duration = Duration::from_millis(500);

/// Opens models, and keeps the traffic with each server.
#[derive(Debug)]
pub struct Servers<'r> {
    resolved: &'r Resolved,
    models: &'r ConfiguredModels,
    printer: Printer,
    seed: u64,
    once: bool,
    pull: bool,
    interruption: Option<Interruption>,
    /// By protocol and address, as it is shown.
    traffic: BTreeMap<(Protocol, String), Arc<Traffic>>,
    /// That of services under test.
    targets: Vec<Arc<Traffic>>,
}

impl<'r> Servers<'r> {
    /// Servers of `models`, as `resolved` describes them. Pauses between attempts are drawn from `seed`.
    pub fn new(
        resolved: &'r Resolved,
        models: &'r ConfiguredModels,
        printer: &Printer,
        seed: u64,
    ) -> Self {
        Self {
            resolved,
            models,
            printer: printer.clone(),
            seed,
            once: false,
            pull: false,
            interruption: None,
            traffic: BTreeMap::new(),
            targets: Vec::new(),
        }
    }

    /// Has `interruption` close the traffic and wait for calls in flight.
    pub(crate) fn interrupted_by(self, interruption: &Interruption) -> Self {
        let interruption = Some(interruption.clone());
        Self {
            interruption,
            ..self
        }
    }

    /// Makes one attempt at each call. `doctor` reports a failure rather than retrying.
    pub fn without_retries(self) -> Self {
        Self { once: true, ..self }
    }

    /// Has Ollama pull the models that it does not have, if `pull` is set.
    pub fn pulling(self, pull: bool) -> Self {
        Self { pull, ..self }
    }

    /// Opens a chat model.
    pub async fn chat(&mut self, model: &ConfiguredChat) -> Result<Arc<dyn ChatModel>> {
        let served = Self::served(self.resolved, model)?;
        Ok(match served.model.protocol {
            Protocol::Ollama => {
                let settings = served.chat_settings(&model.settings.kind)?;
                let traffic = self.traffic(&served)?;
                self.pull_missing(&settings.server, &settings.model, &traffic)
                    .await?;
                Arc::new(OllamaChat::connect(settings, traffic).await?)
            }
            Protocol::OpenAi => Arc::new(self.openai_chat(model).await?),
        })
    }

    /// Opens a chat model behind a server that speaks OpenAI's protocol.
    pub(crate) async fn openai_chat(&mut self, model: &ConfiguredChat) -> Result<OpenAiChat> {
        let served = Self::served(self.resolved, model)?;
        let mut settings = served.chat_settings(&model.settings.kind)?;
        let traffic = self.traffic(&served)?;
        settings.server.digest = self.listed(&model.settings.name, &settings.server).await?;
        let chat = OpenAiChat::new(settings, traffic);
        Ok(chat.map_err(|error| served.bad(&error))?)
    }

    /// Opens an embedding model.
    pub(crate) async fn embedder(
        &mut self,
        model: &ConfiguredEmbedder,
    ) -> Result<Arc<dyn Embedder>> {
        let served = Self::served(self.resolved, model)?;
        let traffic = self.traffic(&served)?;
        Ok(match &model.settings.kind {
            EmbedderKind::Embedded(_) | EmbedderKind::Local(_) => {
                unreachable!("it is behind a server")
            }
            EmbedderKind::Ollama(ollama) => {
                let mut settings = served.embed_settings(&ollama.texts)?;
                settings.keep_alive.clone_from(&ollama.keep_alive);
                self.pull_missing(&settings.server, &settings.model, &traffic)
                    .await?;
                let embedder = HttpEmbedder::ollama(settings, traffic).await;
                Arc::new(embedder.map_err(|error| self.not_embedding(model, error))?)
            }
            EmbedderKind::OpenAi(openai) => {
                let mut settings = served.embed_settings(&openai.texts)?;
                settings.server.digest =
                    self.listed(&model.settings.name, &settings.server).await?;
                let embedder = HttpEmbedder::openai(settings, traffic).await;
                Arc::new(embedder.map_err(|error| self.not_embedding(model, error))?)
            }
        })
    }

    /// Why an embedding model cannot be used. An error about its dimension names the setting.
    fn not_embedding(&self, model: &ConfiguredEmbedder, error: ConnectError) -> Error {
        let Some(dimension) = error.other_dimension() else {
            return error.into();
        };
        let message = other_dimension(dimension);
        model
            .bad_field(self.resolved, "vector_dim", &message)
            .into()
    }

    /// Opens a reranker behind an endpoint `/rerank`. A request holds at most `batch_size` texts.
    pub async fn reranker(
        &mut self,
        model: &ConfiguredReranker,
        batch_size: NonZeroUsize,
    ) -> Result<HttpReranker> {
        let served = Self::served(self.resolved, model)?;
        let settings = served.rerank_settings(batch_size)?;
        let traffic = self.traffic(&served)?;
        Ok(HttpReranker::connect(settings, traffic).await?)
    }

    /// Refuses a model behind a server without an address. No server is asked.
    pub fn check<K: ModelKind>(
        resolved: &Resolved,
        model: &ConfiguredModel<K>,
    ) -> Result<(), SettingsError> {
        match model.server() {
            Some(behind) => ServedModel::of(resolved, behind).map(drop),
            None => Ok(()),
        }
    }

    /// The address of a model whose server may give no digest of its weights. `None` where the model's identity alone tells its
    /// vectors from those of other models.
    pub(crate) fn vector_cache_address(
        &self,
        model: &ConfiguredEmbedder,
    ) -> Result<Option<String>, SettingsError> {
        match model.server() {
            Some(behind) if behind.protocol == Protocol::OpenAi => {
                let served = ServedModel::of(self.resolved, behind)?;
                Ok(Some(served.base_url.to_string()))
            }
            _ => Ok(None),
        }
    }

    /// The values besides its name that the scores of a reranker behind an endpoint `/rerank` depend on: the address of its server and
    /// `extra_body`.
    pub(crate) fn score_cache_address(
        &self,
        model: &ConfiguredReranker,
    ) -> Result<String, SettingsError> {
        let served = Self::served(self.resolved, model)?;
        let (base_url, extra_body) = (&served.base_url, &served.model.connection.extra_body);
        if extra_body.is_empty() {
            return Ok(base_url.to_string());
        }
        let extra_body = serde_json::Value::from(extra_body.clone());
        Ok(format!("{base_url} extra_body={extra_body}"))
    }

    fn served<'s, K: ModelKind>(
        resolved: &'s Resolved,
        model: &'s ConfiguredModel<K>,
    ) -> Result<ServedModel<'s>, SettingsError> {
        let behind = model.server().ok_or_else(|| {
            let message = format!("`{model}` is not behind a server");
            model.bad_field(resolved, "provider", &message)
        })?;
        ServedModel::of(resolved, behind)
    }

    /// Checks that the server answers and accepts the key. Returns the digest of the model in the server's list.
    ///
    /// Not every server has such a list, and some serve models that are not in it.
    async fn listed(&self, model: &str, server: &ServerSettings) -> Result<Option<String>> {
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
                bail!("`{model}` cannot be used: {reason}");
            }
            Err(_) => return Ok(None),
        };
        let found = models.iter().find(|served| served.name == model);
        if found.is_none() && !models.is_empty() {
            self.printer.note(&format!(
                "`{}` lists {}, but not `{model}`",
                server.base_url,
                quantity::of(models.len(), "model"),
            ));
        }
        Ok(found.and_then(|served| served.digest.clone()))
    }

    /// Has Ollama pull a model that it does not have, if models may be pulled.
    ///
    /// This comes before the model is opened, because a server's traffic remembers for good that it does not have a model.
    async fn pull_missing(
        &self,
        server: &ServerSettings,
        model: &str,
        traffic: &Arc<Traffic>,
    ) -> Result<()> {
        if !self.pull {
            return Ok(());
        }
        let pulled = Box::pin(pull::pull_missing(
            &self.printer,
            server,
            model,
            Arc::clone(traffic),
        ));
        match &self.interruption {
            Some(interruption) => interruption.guard(pulled).await,
            None => pulled.await,
        }
    }

    /// The names of the models that each server of the settings lists, by the server's address. Servers that do not list any, and
    /// those that cannot be asked, are left out: opening a model of theirs says why.
    pub async fn listings(&self) -> BTreeMap<String, Vec<String>> {
        let mut listings = BTreeMap::new();
        for model in self.models.served() {
            let Ok(served) = ServedModel::of(self.resolved, model) else {
                continue;
            };
            let address = served.base_url.to_string();
            if listings.contains_key(&address) {
                continue;
            }
            if let Ok(server) = served.server()
                && let Some(names) = listing(model.protocol, server).await
            {
                listings.insert(address, names);
            }
        }
        listings
    }

    /// The traffic with each server whose models are open, and with each service under test.
    pub(crate) fn traffic_so_far(&self) -> Vec<Arc<Traffic>> {
        self.traffic
            .values()
            .chain(&self.targets)
            .map(Arc::clone)
            .collect()
    }

    fn traffic(&mut self, model: &ServedModel<'_>) -> Result<Arc<Traffic>> {
        let address = model.base_url.to_string();
        let key = (model.model.protocol, address.clone());
        // Whoever asks once wants to know of each model what is wrong with it.
        if let Some(traffic) = self.traffic.get(&key).filter(|_| !self.once) {
            return Ok(Arc::clone(traffic));
        }
        let mut settings = limits::traffic_settings(self.models, model, self.seed)?;
        if self.once {
            settings.max_attempts = NonZeroU32::MIN;
        }
        let traffic = Traffic::new(address, settings).with_watch(self.printer.watch());
        let traffic = Arc::new(traffic);
        if let Some(interruption) = &self.interruption {
            interruption.track_traffic(&traffic);
        }
        self.traffic.insert(key, Arc::clone(&traffic));
        Ok(traffic)
    }
}

/// The names of the models that a server lists; `None` where it does not.
async fn listing(protocol: Protocol, server: ServerSettings) -> Option<Vec<String>> {
    let server = ServerSettings {
        timeout: server.timeout.min(LISTING),
        ..server
    };
    match protocol {
        Protocol::Ollama => OllamaModels::new(server).ok()?.list().await.ok(),
        Protocol::OpenAi => {
            let listed = list_openai_models(server).await.ok()?;
            Some(listed.into_iter().map(|model| model.name).collect())
        }
    }
}
