//! Trying out an object store before a run needs it.

use super::Store;
use super::bucket::{Bucket, opening_limit};
use crate::error::IndexError;
use crate::retries::limited;

impl Store {
    /// Creates a small object twice, lists it and deletes it, as a build does with its lease: the second request has to fail. Fails as the build would.
    ///
    /// If the store fails to delete the object, the error names it. Nothing is tried in a folder or in memory.
    pub async fn try_writing(&self) -> Result<(), IndexError> {
        if !self.location.is_bucket() {
            return Ok(());
        }
        let limit = opening_limit(&self.settings);
        let trial = async {
            let bucket = Bucket::connect(self.uri(), &self.settings, limit).await?;
            bucket.try_writing().await
        };
        limited(limit, trial).await
    }

    /// Whether the store has an index, finished or not.
    pub async fn has_indexes(&self) -> Result<bool, IndexError> {
        Ok(!self.names().await?.is_empty())
    }
}
