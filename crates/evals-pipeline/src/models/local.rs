//! Embedding models and rerankers that run in this process.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Error, Result};
use evals_data::{Hub, HubError};
use evals_local::{LocalEmbedder, LocalError, LocalSettings};
use evals_models::{Embedder, Reranker};
use evals_settings::{
    self, LocalEmbedderSettings, LocalRerankerSettings, ModelKind, Resolved, Role, SettingsError,
};
use evals_terminal::Printer;

use super::configured::{ConfiguredEmbedder, ConfiguredModel, ConfiguredReranker, other_dimension};
use super::files::ModelFiles;
use crate::downloads::{self, DownloadBars};

/// A model that runs in this process, not opened yet.
#[derive(Debug)]
pub struct LocalModel<'r> {
    resolved: &'r Resolved,
    role: Role,
    files: ModelFiles,
    settings: LocalSettings,
    /// The dimensions that the vectors must have.
    vector_dim: Option<NonZeroUsize>,
}

impl<'r> LocalModel<'r> {
    /// Refuses an embedding model whose name is neither a folder nor a possible repository.
    pub fn embedder(
        resolved: &'r Resolved,
        model: &ConfiguredEmbedder,
        written: &LocalEmbedderSettings,
    ) -> Result<Self, SettingsError> {
        let texts = &written.texts;
        let settings = LocalSettings {
            pooling: written.pooling.map(pooling),
            max_tokens: texts.max_tokens.and_then(|most| most.try_into().ok()),
            query_prompt: texts.query_prefix.clone(),
            document_prompt: texts.document_prefix.clone(),
            ..LocalSettings::default()
        };
        let vector_dim = texts.vector_dim;
        let model = Self::of(resolved, model, &written.local, settings)?;
        Ok(Self {
            vector_dim,
            ..model
        })
    }

    /// Refuses a reranker whose name is neither a folder nor a possible repository.
    pub fn reranker(
        resolved: &'r Resolved,
        model: &ConfiguredReranker,
        written: &LocalRerankerSettings,
    ) -> Result<Self, SettingsError> {
        let settings = LocalSettings {
            max_tokens: written.max_tokens.and_then(|most| most.try_into().ok()),
            instruction: written.instruction.clone(),
            rerank_prompt: written.rerank_prompt.map(rerank_prompt),
            ..LocalSettings::default()
        };
        Self::of(resolved, model, &written.local, settings)
    }

    fn of<K: ModelKind>(
        resolved: &'r Resolved,
        model: &ConfiguredModel<K>,
        written: &evals_settings::LocalSettings,
        settings: LocalSettings,
    ) -> Result<Self, SettingsError> {
        let files = ModelFiles::of(&model.settings.name, written.revision.as_deref());
        let files = files.map_err(|(field, message)| model.bad_field(resolved, field, &message))?;
        let name = match &files {
            ModelFiles::Folder(_) => None,
            ModelFiles::Hub { id, .. } => Some(id.clone()),
        };
        Ok(Self {
            resolved,
            role: model.role,
            files,
            settings: LocalSettings {
                name,
                dtype: written.dtype.map(dtype).unwrap_or_default(),
                ..settings
            },
            vector_dim: None,
        })
    }

    /// Whether the model's files are on this machine.
    pub fn is_here(&self, hub: &Hub) -> bool {
        match &self.files {
            ModelFiles::Folder(_) => true,
            ModelFiles::Hub { id, revision } => hub.is_model_cached(id, revision),
        }
    }

    /// Loads an embedding model. Fetches its files first where they are missing.
    pub async fn open(&self, printer: &Printer, hub: &Hub) -> Result<Arc<dyn Embedder>> {
        let load = |folder, settings: LocalSettings| LocalEmbedder::open(folder, &settings);
        let embedder = self.load(printer, hub, load).await?;
        let dimension = embedder.dimension();
        match self.vector_dim {
            Some(expected) if expected.get() != dimension => {
                Err(self.bad("vector_dim", &other_dimension(dimension)).into())
            }
            _ => Ok(Arc::new(embedder)),
        }
    }

    /// Loads a reranker. Fetches its files first where they are missing.
    pub async fn open_reranker(&self, printer: &Printer, hub: &Hub) -> Result<Arc<dyn Reranker>> {
        let load = |folder, settings: LocalSettings| evals_local::open_reranker(folder, &settings);
        self.load(printer, hub, load).await
    }

    async fn load<M: Send + 'static>(
        &self,
        printer: &Printer,
        hub: &Hub,
        load: impl FnOnce(PathBuf, LocalSettings) -> Result<M, LocalError> + Send + 'static,
    ) -> Result<M> {
        let folder = match &self.files {
            ModelFiles::Folder(folder) => folder.clone(),
            ModelFiles::Hub { id, revision } => self.fetched(printer, hub, id, revision).await?,
        };
        let settings = self.settings.clone();
        let loading = tokio::task::spawn_blocking(move || load(folder, settings));
        let loaded = loading.await.context("could not load the model")?;
        loaded.map_err(|error| self.not_loaded(error))
    }

    async fn fetched(
        &self,
        printer: &Printer,
        hub: &Hub,
        id: &str,
        revision: &str,
    ) -> Result<PathBuf> {
        let bars = DownloadBars::new(printer);
        let fetched = hub.fetch_model(id, revision, &bars).await;
        let model = fetched.map_err(|error| self.not_fetched(error, id))?;
        downloads::report_warnings(printer, &model.warnings);
        Ok(model.folder)
    }

    /// The error of a download. An error about the model's name or revision names the setting.
    fn not_fetched(&self, error: HubError, id: &str) -> Error {
        let field = match &error {
            HubError::RepositoryNotFound { .. }
            | HubError::NoFileMatches { .. }
            | HubError::NoWeights { .. } => "name",
            HubError::RevisionNotFound { .. } => "revision",
            _ => return Error::new(error).context(format!("cannot fetch the model `{id}`")),
        };
        self.bad(field, &error).into()
    }

    /// The error of loading. Most causes can be mended by one setting, which the error names.
    fn not_loaded(&self, error: LocalError) -> Error {
        let field = match &error {
            LocalError::Setting { setting, .. } => *setting,
            LocalError::Read { .. } | LocalError::Threads(_) => return error.into(),
            _ => "name",
        };
        self.bad(field, &format!("{:#}", Error::new(error))).into()
    }

    fn bad(&self, field: &str, message: &dyn Display) -> SettingsError {
        let path = format!("{}.{field}", self.role.path());
        self.resolved.bad_value(&path, message)
    }
}

fn dtype(dtype: evals_settings::Dtype) -> evals_local::Dtype {
    match dtype {
        evals_settings::Dtype::F32 => evals_local::Dtype::F32,
        evals_settings::Dtype::Int8 => evals_local::Dtype::Int8,
    }
}

fn pooling(pooling: evals_settings::Pooling) -> evals_local::Pooling {
    match pooling {
        evals_settings::Pooling::Mean => evals_local::Pooling::Mean,
        evals_settings::Pooling::Cls => evals_local::Pooling::Cls,
        evals_settings::Pooling::Max => evals_local::Pooling::Max,
        evals_settings::Pooling::Last => evals_local::Pooling::Last,
        evals_settings::Pooling::WeightedMean => evals_local::Pooling::WeightedMean,
    }
}

fn rerank_prompt(prompt: evals_settings::RerankPrompt) -> evals_local::RerankPrompt {
    match prompt {
        evals_settings::RerankPrompt::Qwen3 => evals_local::RerankPrompt::Qwen3,
        evals_settings::RerankPrompt::Mxbai => evals_local::RerankPrompt::Mxbai,
    }
}
