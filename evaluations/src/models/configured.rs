//! The models that the settings name, each resolved to its kind once.

use std::fmt::{self, Display};

use evals_models::ModelIdentity;

use super::kind::ModelKind;
use crate::settings::{Dtype, Model, Resolved, Role, Settings, SettingsError};

/// A model that the settings name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConfiguredModel {
    pub(crate) role: Role,
    pub(crate) kind: ModelKind,
    /// The model's settings. For an LLM reranker, `provider` and `name` are those of the chat model that it asks. They are empty
    /// where the settings do not name it as `PROVIDER:NAME`.
    pub(crate) settings: Box<Model>,
}

/// Every model that the settings name.
#[derive(Debug, Clone)]
pub(crate) struct ConfiguredModels {
    pub(crate) embedder: ConfiguredModel,
    pub(crate) answerer: ConfiguredModel,
    pub(crate) judge: ConfiguredModel,
    pub(crate) reranker: Option<ConfiguredModel>,
}

impl ConfiguredModels {
    pub(crate) fn of(settings: &Settings) -> Self {
        let model = |role, model| ConfiguredModel::new(role, model);
        Self {
            embedder: model(Role::Embedder, &settings.embeddings.model),
            answerer: model(Role::Answerer, &settings.qa.model),
            judge: model(Role::Judge, &settings.evaluations.judge),
            reranker: settings
                .reranking
                .model
                .as_ref()
                .map(|reranker| model(Role::Reranker, reranker)),
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &ConfiguredModel> {
        [&self.embedder, &self.answerer, &self.judge]
            .into_iter()
            .chain(&self.reranker)
    }
}

impl ConfiguredModel {
    pub(crate) fn new(role: Role, settings: &Model) -> Self {
        let kind = ModelKind::of(role, &settings.provider, &settings.name);
        let mut settings = Box::new(settings.clone());
        if let ModelKind::LlmReranker(_) = kind {
            let (provider, name) = settings.name.split_once(':').unwrap_or_default();
            let (provider, name) = (provider.to_owned(), name.to_owned());
            settings.provider = provider;
            settings.name = name;
        }
        Self {
            role,
            kind,
            settings,
        }
    }

    /// A chat model under test: the answering model of the settings if it is the same one, else the model with defaults.
    pub(crate) fn under_test(settings: &Settings, provider: &str, name: &str) -> Self {
        let answerer = &settings.qa.model;
        if answerer.provider == provider && answerer.name == name {
            Self::new(Role::Answerer, answerer)
        } else {
            Self::new(Role::Answerer, &Model::named(provider, name))
        }
    }

    /// The model's identity without a digest, for looking up its price.
    pub(crate) fn identity(&self) -> ModelIdentity {
        ModelIdentity::new(&self.settings.provider, &self.settings.name)
    }

    /// The name of the opened model in `cache stats`. `int8` is part of it, since such a model has other scores and vectors.
    pub(crate) fn label(&self, opened: &ModelIdentity) -> String {
        match self.settings.dtype {
            Some(Dtype::Int8) => format!("{opened} (int8)"),
            Some(Dtype::F32) | None => opened.to_string(),
        }
    }

    /// The error of a `vector_dim` that is not the dimension of the model's vectors.
    pub(super) fn bad_dimension(&self, resolved: &Resolved, dimension: usize) -> SettingsError {
        let message = format!(
            "the model's vectors have {dimension} dimensions; set this number, or remove the setting"
        );
        self.bad_field(resolved, "vector_dim", &message)
    }

    /// The error of a setting of this model whose value cannot be used.
    pub(super) fn bad_field(
        &self,
        resolved: &Resolved,
        field: &str,
        message: &dyn Display,
    ) -> SettingsError {
        resolved.bad_value(&format!("{}.{field}", self.role.path()), message)
    }
}

impl Display for ConfiguredModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}",
            self.settings.provider, self.settings.name
        )
    }
}
