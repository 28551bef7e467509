use std::sync::Arc;

use evals_models::Embedder;
use lancedb::table::Table;

use super::positions::Positions;
use crate::address::Address;
use crate::error::IndexError;
use crate::guard::guarded;
use crate::profile::Profile;

/// An open, complete index.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) table: Table,
    /// The table, for messages.
    pub(crate) address: Address,
    pub(crate) positions: Positions,
    /// Embeds questions with the model that embedded the chunks.
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
}

impl Contents {
    /// Runs work on the table, and makes an error that names the table of a failure or a panic of the engine.
    pub(crate) async fn guarded<T>(
        &self,
        work: impl Future<Output = Result<T, IndexError>>,
    ) -> Result<T, IndexError> {
        guarded(&self.address, work)
            .await
            .map_err(|error| error.on_table(&self.address))
    }

    pub(crate) fn embedder(&self) -> Result<&Arc<dyn Embedder>, IndexError> {
        self.embedder.as_ref().ok_or(IndexError::NoEmbeddings {
            profile: Profile::Semantic,
        })
    }
}
