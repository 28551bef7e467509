//! The roles that models play in a run, and where the settings name the model of each.

use super::{Model, Settings};

/// The role that a model plays in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
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
    pub(crate) const ALL: [Self; 4] = [Self::Embedder, Self::Answerer, Self::Judge, Self::Reranker];

    /// The dotted path of the setting that names the model.
    pub(crate) const fn path(self) -> &'static str {
        match self {
            Self::Embedder => "embeddings.model",
            Self::Answerer => "qa.model",
            Self::Judge => "evaluations.judge",
            Self::Reranker => "reranking.model",
        }
    }
}

impl Settings {
    /// The model that plays `role`. Only a reranker can be missing.
    pub(crate) fn model(&self, role: Role) -> Option<&Model> {
        match role {
            Role::Embedder => Some(&self.embeddings.model),
            Role::Answerer => Some(&self.qa.model),
            Role::Judge => Some(&self.evaluations.judge),
            Role::Reranker => self.reranking.model.as_ref(),
        }
    }
}
