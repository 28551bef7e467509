//! Embedding models and rerankers that run in this process, from a folder or from the hub.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Error, Result};
use evals_data::{Hub, HubError};
use evals_local::{LocalEmbedder, LocalError, LocalSettings};
use evals_models::{Embedder, ModelIdentity, Reranker};

use crate::choices::refuse_fields;
use crate::downloads::{self, DownloadBars};
use crate::models::reranker;
use crate::printer::Printer;
use crate::settings::{self, Model, Resolved, SettingsError};

/// The settings that mean something for a local embedding model.
const FIELDS: [&str; 7] = [
    "dtype",
    "document_prefix",
    "max_tokens",
    "pooling",
    "query_prefix",
    "revision",
    "vector_dim",
];

/// The settings that mean something for a local reranker.
pub(crate) const RERANKER_FIELDS: [&str; 5] = [
    "dtype",
    "instruction",
    "max_tokens",
    "rerank_prompt",
    "revision",
];

/// Where models are on the hub unless settings say otherwise.
const MAIN: &str = "main";

/// A local model as the settings describe it, not opened yet.
#[derive(Debug)]
pub(crate) struct LocalModel<'r> {
    resolved: &'r Resolved,
    /// Where it stands in the settings.
    path: &'static str,
    model: &'r Model,
    place: Place,
}

/// Where a model's files are.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Folder(PathBuf),
    Hub { id: String, revision: String },
}

impl<'r> LocalModel<'r> {
    /// The embedding model of the settings, which has to be a local one.
    pub(crate) fn of(resolved: &'r Resolved) -> Result<Self, SettingsError> {
        let model = &resolved.settings.embeddings.model;
        Self::at(resolved, "embeddings.model", model, &FIELDS)
    }

    /// The reranker of the settings, which has to be a local one.
    pub(crate) fn reranker(
        resolved: &'r Resolved,
        model: &'r Model,
    ) -> Result<Self, SettingsError> {
        Self::at(resolved, reranker::PATH, model, &RERANKER_FIELDS)
    }

    fn at(
        resolved: &'r Resolved,
        path: &'static str,
        model: &'r Model,
        fields: &[&str],
    ) -> Result<Self, SettingsError> {
        let is_known = |field: &str| fields.contains(&field);
        let message = "a local model has no such setting";
        refuse_fields(resolved, (path, model), is_known, message)?;
        let place = Place::of(&model.name, model.revision.as_deref())
            .map_err(|(field, message)| resolved.bad_value(&format!("{path}.{field}"), &message))?;
        Ok(Self {
            resolved,
            path,
            model,
            place,
        })
    }

    /// Whether its files are on this machine.
    pub(crate) fn is_here(&self, hub: &Hub) -> bool {
        match &self.place {
            Place::Folder(_) => true,
            Place::Hub { id, revision } => hub.is_model_cached(id, revision),
        }
    }

    /// Brings the files here where they are not, and loads them.
    pub(crate) async fn open(&self, printer: &Printer, hub: &Hub) -> Result<Arc<dyn Embedder>> {
        let load = |folder, settings: LocalSettings| LocalEmbedder::open(folder, &settings);
        let embedder = self.load(printer, hub, load).await?;
        self.check_dimension(embedder.dimension())?;
        Ok(Arc::new(embedder))
    }

    /// The same of a reranker.
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
        let folder = match &self.place {
            Place::Folder(folder) => folder.clone(),
            Place::Hub { id, revision } => self.fetched(printer, hub, id, revision).await?,
        };
        let settings = self.settings();
        let loading = tokio::task::spawn_blocking(move || load(folder, settings));
        let loaded = loading.await.context("loading the model was given up")?;
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
        downloads::tell(printer, &model.warnings);
        Ok(model.folder)
    }

    fn settings(&self) -> LocalSettings {
        let model = self.model;
        let tokens = model
            .max_tokens
            .and_then(|tokens| usize::try_from(tokens.get()).ok());
        LocalSettings {
            name: match &self.place {
                Place::Folder(_) => None,
                Place::Hub { id, .. } => Some(id.clone()),
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
        let expected = self.model.vector_dim;
        if expected.is_none_or(|expected| expected.get() == dimension) {
            return Ok(());
        }
        let message = format!("the model's vectors have {dimension} dimensions");
        Err(self.bad("vector_dim", &message))
    }

    /// What is wrong with the name is told where the name was written.
    fn not_fetched(&self, error: HubError, id: &str) -> Error {
        let field = match &error {
            HubError::RepositoryNotFound { .. }
            | HubError::NoFileMatches { .. }
            | HubError::NoWeights { .. } => "name",
            HubError::RevisionNotFound { .. } => "revision",
            _ => return Error::new(error).context(format!("cannot get the model `{id}`")),
        };
        self.bad(field, &error).into()
    }

    fn not_loaded(&self, error: LocalError) -> Error {
        let field = match &error {
            LocalError::Window { .. }
            | LocalError::Prompt { .. }
            | LocalError::Positions { .. } => "max_tokens",
            LocalError::RerankPrompt { .. } => "rerank_prompt",
            LocalError::UnreadSetting { setting, .. } => *setting,
            LocalError::Read { .. } | LocalError::Threads(_) => return error.into(),
            _ => "name",
        };
        self.bad(field, &format!("{:#}", Error::new(error))).into()
    }

    fn bad(&self, field: &str, message: &dyn Display) -> SettingsError {
        let path = format!("{}.{field}", self.path);
        self.resolved.bad_value(&path, message)
    }
}

impl Place {
    /// A folder where there is one, else a repository of the hub. An error names the field that is wrong.
    fn of(name: &str, revision: Option<&str>) -> Result<Self, (&'static str, String)> {
        let folder = Path::new(name);
        if folder.is_dir() {
            if revision.is_some() {
                return Err(("revision", "a folder has no revisions".to_owned()));
            }
            return Ok(Self::Folder(named(folder)));
        }
        if !is_repository(name) {
            let message =
                format!("there is no folder `{name}`; a model of the hub is written `owner/name`");
            return Err(("name", message));
        }
        Ok(Self::Hub {
            id: name.to_owned(),
            revision: revision.unwrap_or(MAIN).to_owned(),
        })
    }
}

/// What `cache stats` calls a model: models of one name with other numbers are others.
pub(crate) fn label(identity: &ModelIdentity, model: &Model) -> String {
    match model.dtype {
        Some(settings::Dtype::Int8) => format!("{identity} (int8)"),
        Some(settings::Dtype::F32) | None => identity.to_string(),
    }
}

/// The folder by a path that ends in its name, which `.` and `..` do not.
fn named(folder: &Path) -> PathBuf {
    let real = || folder.canonicalize().ok();
    match folder.file_name() {
        Some(_) => folder.to_owned(),
        None => real().unwrap_or_else(|| folder.to_owned()),
    }
}

/// Whether the hub could have a repository of this name.
fn is_repository(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        part.starts_with(|first: char| first != '.') && part.chars().all(is_allowed)
    };
    name.split('/').count() <= 2 && name.split('/').all(is_part)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str) -> Result<Place, String> {
        Place::of(name, None).map_err(|(field, message)| format!("{field}: {message}"))
    }

    #[test]
    fn a_folder_comes_before_the_hub() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        assert_eq!(place(path), Ok(Place::Folder(folder.path().to_owned())));
        assert_eq!(
            Place::of(path, Some("v1")),
            Err(("revision", "a folder has no revisions".to_owned()))
        );
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(place("."), Ok(Place::Folder(here)), "a model called `.`");
    }

    #[test]
    fn what_is_no_folder_is_a_repository_or_nothing() {
        let hub = |id: &str, revision: &str| Place::Hub {
            id: id.to_owned(),
            revision: revision.to_owned(),
        };
        for name in [
            "sentence-transformers/all-MiniLM-L6-v2",
            "bert-base-uncased",
        ] {
            assert_eq!(place(name), Ok(hub(name, "main")));
        }
        assert_eq!(Place::of("o/n", Some("v1.5")), Ok(hub("o/n", "v1.5")));
        for name in [
            "./minilm",
            "../o/n",
            "/models/minilm",
            "a/b/c",
            "o/n/",
            "o\\n",
            "",
        ] {
            assert_eq!(
                place(name),
                Err(format!(
                    "name: there is no folder `{name}`; a model of the hub is written `owner/name`"
                ))
            );
        }
    }
}
