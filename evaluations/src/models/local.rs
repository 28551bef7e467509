//! Embedding models and rerankers that run in this process.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Error, Result};
use evals_data::{Hub, HubError};
use evals_local::{LocalEmbedder, LocalError, LocalSettings};
use evals_models::{Embedder, Reranker};

use super::configured::ConfiguredModel;
use super::fields;
use super::files::ModelFiles;
use crate::downloads::{self, DownloadBars};
use crate::settings::{self, Resolved, SettingsError};
use crate::terminal::Printer;

/// A model of kind [`super::ModelKind::Local`], not opened yet.
#[derive(Debug)]
pub(crate) struct LocalModel<'r> {
    resolved: &'r Resolved,
    model: &'r ConfiguredModel,
    files: ModelFiles,
}

impl<'r> LocalModel<'r> {
    /// Refuses settings that `model` would ignore, and a name that is neither a folder nor a possible repository.
    pub(crate) fn of(
        resolved: &'r Resolved,
        model: &'r ConfiguredModel,
    ) -> Result<Self, SettingsError> {
        fields::check(resolved, model)?;
        let settings = &model.settings;
        let files = ModelFiles::of(&settings.name, settings.revision.as_deref());
        let files = files.map_err(|(field, message)| model.bad_field(resolved, field, &message))?;
        Ok(Self {
            resolved,
            model,
            files,
        })
    }

    /// Whether the model's files are on this machine.
    pub(crate) fn is_here(&self, hub: &Hub) -> bool {
        match &self.files {
            ModelFiles::Folder(_) => true,
            ModelFiles::Hub { id, revision } => hub.is_model_cached(id, revision),
        }
    }

    /// Loads an embedding model. Fetches its files first where they are missing.
    pub(crate) async fn open(&self, printer: &Printer, hub: &Hub) -> Result<Arc<dyn Embedder>> {
        let load = |folder, settings: LocalSettings| LocalEmbedder::open(folder, &settings);
        let embedder = self.load(printer, hub, load).await?;
        self.check_dimension(embedder.dimension())?;
        Ok(Arc::new(embedder))
    }

    /// Loads a reranker. Fetches its files first where they are missing.
    pub(crate) async fn open_reranker(
        &self,
        printer: &Printer,
        hub: &Hub,
    ) -> Result<Arc<dyn Reranker>> {
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
        let settings = self.settings();
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

    fn settings(&self) -> LocalSettings {
        let model = &self.model.settings;
        let tokens = model
            .max_tokens
            .and_then(|tokens| usize::try_from(tokens.get()).ok());
        LocalSettings {
            name: match &self.files {
                ModelFiles::Folder(_) => None,
                ModelFiles::Hub { id, .. } => Some(id.clone()),
            },
            pooling: model.pooling.map(pooling),
            max_tokens: tokens.and_then(NonZeroUsize::new),
            query_prompt: model.query_prefix.clone(),
            document_prompt: model.document_prefix.clone(),
            instruction: model.instruction.clone(),
            rerank_prompt: model.rerank_prompt.map(rerank_prompt),
            dtype: model.dtype.map(dtype).unwrap_or_default(),
            ..LocalSettings::default()
        }
    }

    fn check_dimension(&self, dimension: usize) -> Result<(), SettingsError> {
        let expected = self.model.settings.vector_dim;
        if expected.is_none_or(|expected| expected.get() == dimension) {
            return Ok(());
        }
        Err(self.model.bad_dimension(self.resolved, dimension))
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
        self.model.bad_field(self.resolved, field, message)
    }
}

fn dtype(dtype: settings::Dtype) -> evals_local::Dtype {
    match dtype {
        settings::Dtype::F32 => evals_local::Dtype::F32,
        settings::Dtype::Int8 => evals_local::Dtype::Int8,
    }
}

fn pooling(pooling: settings::Pooling) -> evals_local::Pooling {
    match pooling {
        settings::Pooling::Mean => evals_local::Pooling::Mean,
        settings::Pooling::Cls => evals_local::Pooling::Cls,
        settings::Pooling::Max => evals_local::Pooling::Max,
        settings::Pooling::Last => evals_local::Pooling::Last,
        settings::Pooling::WeightedMean => evals_local::Pooling::WeightedMean,
    }
}

fn rerank_prompt(prompt: settings::RerankPrompt) -> evals_local::RerankPrompt {
    match prompt {
        settings::RerankPrompt::Qwen3 => evals_local::RerankPrompt::Qwen3,
        settings::RerankPrompt::Mxbai => evals_local::RerankPrompt::Mxbai,
    }
}
