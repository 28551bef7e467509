//! The models that the settings name, each with the role that it plays.

use std::fmt::{self, Display};

use evals_models::ModelIdentity;
use evals_rag::targets::History;
use evals_settings::{
    ChatKind, Connection, Dtype, EMBEDDED, EmbedderKind, Model, ModelKind, Protocol, RerankerKind,
    Resolved, Role, Settings, SettingsError,
};

/// The name of the embedded judge.
pub const OVERLAP: &str = "overlap";

/// A model that the settings name.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfiguredModel<K> {
    /// What the model does.
    pub role: Role,
    /// Its settings.
    pub settings: Model<K>,
}

/// A model that answers, judges, rewrites or plays a user, or that a reranker asks.
pub type ConfiguredChat = ConfiguredModel<ChatKind>;

/// An embedding model.
pub type ConfiguredEmbedder = ConfiguredModel<EmbedderKind>;

/// A reranker.
pub type ConfiguredReranker = ConfiguredModel<RerankerKind>;

/// Every model that the settings name.
#[derive(Debug, Clone)]
pub struct ConfiguredModels {
    /// Embeds chunks and questions.
    pub embedder: ConfiguredEmbedder,
    /// Answers questions.
    pub answerer: ConfiguredChat,
    /// Judges answers.
    pub judge: ConfiguredChat,
    /// Orders what a search found, if that is configured.
    pub reranker: Option<ConfiguredReranker>,
    /// Rewrites questions of conversations; `None` unless `search.history` is `rewrite`. Without `search.rewriter`, this is the answering model.
    pub rewriter: Option<ConfiguredChat>,
    /// Plays users; `None` unless `conversations.history` is `simulated`. Without `conversations.user`, this is the answering model.
    pub user: Option<ConfiguredChat>,
}

/// What a model behind a server has in any role.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Behind<'m> {
    pub(super) role: Role,
    pub(super) provider: &'m str,
    pub(super) name: &'m str,
    pub(super) protocol: Protocol,
    pub(super) connection: &'m Connection,
}

impl Behind<'_> {
    /// The dotted path of a setting of the model.
    pub(super) fn path(self, field: &str) -> String {
        format!("{}.{field}", self.role.path())
    }
}

impl ConfiguredModels {
    /// The models of these settings.
    pub fn of(settings: &Settings) -> Self {
        let reranker = settings.reranking.model.clone();
        let answerer = ConfiguredModel::new(Role::Answerer, settings.qa.model.clone());
        let asked = |is_asked: bool, role, model: &Option<Model<ChatKind>>| {
            let own = model.clone().map(|it| ConfiguredModel::new(role, it));
            is_asked.then(|| own.unwrap_or_else(|| answerer.clone()))
        };
        let (search, talks) = (&settings.search, &settings.conversations);
        let is_rewritten = search.history.is_rewritten();
        let is_simulated = talks.history == History::Simulated;
        Self {
            embedder: ConfiguredModel::new(Role::Embedder, settings.embeddings.model.clone()),
            rewriter: asked(is_rewritten, Role::Rewriter, &search.rewriter),
            user: asked(is_simulated, Role::User, &talks.user),
            answerer,
            judge: ConfiguredModel::new(Role::Judge, settings.evaluations.judge.clone()),
            reranker: reranker.map(|it| ConfiguredModel::new(Role::Reranker, it)),
        }
    }

    /// The models that are behind servers.
    pub(super) fn served(&self) -> impl Iterator<Item = Behind<'_>> {
        let reranker = self.reranker.as_ref();
        let all = [
            self.embedder.server(),
            self.answerer.server(),
            self.judge.server(),
            reranker.and_then(ConfiguredModel::server),
            self.rewriter.as_ref().and_then(ConfiguredModel::server),
            self.user.as_ref().and_then(ConfiguredModel::server),
        ];
        all.into_iter().flatten()
    }
}

impl<K: ModelKind> ConfiguredModel<K> {
    pub(crate) fn new(role: Role, settings: Model<K>) -> Self {
        Self { role, settings }
    }

    /// The server that the model is behind; `None` where it runs in this process.
    pub(crate) fn server(&self) -> Option<Behind<'_>> {
        let (protocol, connection) = self.settings.kind.connection()?;
        let (provider, name) = self.settings.asked();
        Some(Behind {
            role: self.role,
            provider,
            name,
            protocol,
            connection,
        })
    }

    /// The model's identity without a digest, for looking up its price.
    pub fn identity(&self) -> ModelIdentity {
        let (provider, name) = self.settings.asked();
        ModelIdentity::new(provider, name)
    }

    /// The name of the opened model in `cache stats`. `int8` is part of it, since such a model has other scores and vectors.
    pub(crate) fn label(&self, opened: &ModelIdentity) -> String {
        match self.settings.kind.local().and_then(|it| it.dtype) {
            Some(Dtype::Int8) => format!("{opened} (int8)"),
            Some(Dtype::F32) | None => opened.to_string(),
        }
    }

    /// Refuses the name of an embedded model that does not exist.
    ///
    /// The settings may name models that a command does not use, so each command checks only those that it uses.
    pub fn check_embedded_name(&self, resolved: &Resolved) -> Result<(), SettingsError> {
        let (what, only) = match self.role {
            Role::Embedder => ("model", "static-minilm"),
            Role::Answerer => ("answerer", "extractive"),
            Role::Judge => ("judge", OVERLAP),
            Role::Reranker | Role::Rewriter | Role::User => return Ok(()),
        };
        if self.settings.provider == EMBEDDED && self.settings.name != only {
            let message = format!("the only embedded {what} is `{only}`");
            return Err(self.bad_field(resolved, "name", &message));
        }
        Ok(())
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

impl ConfiguredChat {
    /// A chat model under test: the answering model of the settings if it is the same one, else the model with defaults.
    pub fn under_test(settings: &Settings, provider: &str, name: &str) -> Self {
        let answerer = &settings.qa.model;
        if answerer.provider == provider && answerer.name == name {
            Self::new(Role::Answerer, answerer.clone())
        } else {
            Self::new(Role::Answerer, Model::named(provider, name))
        }
    }

    /// Whether it is part of this program, and no language model.
    pub fn is_embedded(&self) -> bool {
        matches!(self.settings.kind, ChatKind::Embedded(_))
    }
}

impl ConfiguredReranker {
    /// The chat model that is asked to rerank.
    pub fn chat(&self) -> Option<ConfiguredChat> {
        let chat = self.settings.chat()?;
        Some(ConfiguredModel::new(self.role, chat))
    }
}

impl<K: ModelKind> Display for ConfiguredModel<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (provider, name) = self.settings.asked();
        write!(formatter, "{provider}:{name}")
    }
}

/// The message about a `vector_dim` that is not the dimension of a model's vectors.
pub(super) fn other_dimension(dimension: usize) -> String {
    format!(
        "the model's vectors have {dimension} dimensions; set this number, or remove the setting"
    )
}

/// Where a model of a run or a report ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RanIn {
    /// In this program, which the model is part of.
    Program,
    /// In this process.
    Process,
    /// On a server.
    Server,
}

impl RanIn {
    pub(crate) fn of(model: &ModelIdentity) -> Self {
        match model.provider.as_str() {
            EMBEDDED => Self::Program,
            "local" => Self::Process,
            _ => Self::Server,
        }
    }
}
