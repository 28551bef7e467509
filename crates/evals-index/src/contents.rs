use std::sync::Arc;

use evals_models::Embedder;
use lancedb::table::Table;

use crate::positions::Positions;
use crate::{IndexError, Profile};

/// An open, complete index.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) table: Table,
    pub(crate) positions: Positions,
    /// Embeds questions with the model that embedded the chunks.
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
}

impl Contents {
    pub(crate) fn embedder(&self) -> Result<&Arc<dyn Embedder>, IndexError> {
        self.embedder.as_ref().ok_or(IndexError::NoEmbeddings {
            profile: Profile::Semantic,
        })
    }
}
