//! Proves that a store honours conditions and lets objects be written and deleted.

use std::hash::{BuildHasher, Hasher, RandomState};

use super::{Bucket, Creation};
use crate::error::IndexError;

impl Bucket {
    /// Creates an object twice and deletes it. Fails if the second request replaces it.
    pub(in crate::store) async fn try_writing(&self) -> Result<(), IndexError> {
        let token = RandomState::new().build_hasher().finish();
        let name = format!("evaluations-trial-{token:016x}");
        let tried = self.create_twice(&name).await;
        let deleted = self.delete(&name).await;
        tried.and(deleted)
    }

    async fn create_twice(&self, name: &str) -> Result<(), IndexError> {
        // The first request may find the object, too: if its answer got lost and it was repeated.
        self.create(name, Vec::new()).await?;
        match self.create(name, Vec::new()).await? {
            Creation::Present => Ok(()),
            Creation::Created => Err(IndexError::Unconditional {
                uri: self.uri.clone(),
            }),
        }
    }
}
