//! The open table of an index, with all that a search needs.

use std::sync::Arc;

use evals_models::Embedder;
use lancedb::table::Table;

use super::positions::Positions;
use crate::address::Address;
use crate::error::IndexError;
use crate::guard::guarded_table;
use crate::profile::Profile;

/// The open table of a complete index.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) table: Table,
    /// The table's name and store, for messages.
    pub(crate) address: Address,
    pub(crate) positions: Positions,
    /// The model that embedded the chunks, and embeds questions.
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
}

impl Contents {
    /// Runs work on the table. Errors and panics of the engine become errors that name the table.
    pub(crate) async fn guarded<T>(
        &self,
        work: impl Future<Output = Result<T, IndexError>>,
    ) -> Result<T, IndexError> {
        guarded_table(&self.address, work).await
    }

    pub(crate) fn embedder(&self) -> Result<&Arc<dyn Embedder>, IndexError> {
        self.embedder.as_ref().ok_or(IndexError::NoEmbeddings {
            profile: Profile::Semantic,
        })
    }
}
