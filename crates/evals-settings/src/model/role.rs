//! The roles that models play in a run, and where the settings name the model of each.

use serde_json::Value;

use super::{ChatKind, EmbedderKind, Misfit, Model, RerankerKind};

/// The role that a model plays in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Turns texts into vectors.
    Embedder,
    /// Answers questions.
    Answerer,
    /// Judges answers.
    Judge,
    /// Puts search results into a better order.
    Reranker,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Embedder, Self::Answerer, Self::Judge, Self::Reranker];

    /// The dotted path of the setting that names the model.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Embedder => "embeddings.model",
            Self::Answerer => "qa.model",
            Self::Judge => "evaluations.judge",
            Self::Reranker => "reranking.model",
        }
    }

    /// Checks the model in all settings, as they are written. Only a reranker can be missing.
    pub(crate) fn check(self, settings: &Value) -> Result<(), Misfit> {
        let pointer = format!("/{}", self.path().replace('.', "/"));
        let Some(model) = settings.pointer(&pointer) else {
            return Ok(());
        };
        match self {
            Self::Embedder => Model::<EmbedderKind>::read(model).map(drop),
            Self::Answerer | Self::Judge => Model::<ChatKind>::read(model).map(drop),
            Self::Reranker if model.is_null() => Ok(()),
            Self::Reranker => Model::<RerankerKind>::read(model).map(drop),
        }
    }
}
