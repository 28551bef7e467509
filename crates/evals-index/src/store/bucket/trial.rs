//! Proves that a store honours conditions, lists what it has, and lets objects be written and deleted.

use std::hash::{BuildHasher, Hasher, RandomState};

use super::{Bucket, Creation};
use crate::error::IndexError;

impl Bucket {
    /// Creates an object twice, lists it and deletes it. Fails if the second request replaces it, if it is not listed, or if it stays.
    pub(in crate::store) async fn try_writing(&self) -> Result<(), IndexError> {
        let token = RandomState::new().build_hasher().finish();
        let name = format!("evaluations-trial-{token:016x}");
        let created = self.create(&name, Vec::new()).await;
        // A request without an answer may have created the object.
        let may_exist = match &created {
            Ok(_) => true,
            Err(error) => error.store_fault().is_some_and(|it| it.is_transient()),
        };
        // The first request may find the object, too: if its answer got lost and it was repeated.
        let tried = match created {
            Ok(_) => self.create_again(&name).await,
            Err(error) => Err(error),
        };
        match self.delete(&name).await {
            Err(error) if may_exist => Err(IndexError::Trial {
                object: self.address(&name),
                source: Box::new(tried.err().unwrap_or(error)),
            }),
            // A store that refuses to create an object may also refuse to delete one.
            _ => tried,
        }
    }

    async fn create_again(&self, name: &str) -> Result<(), IndexError> {
        match self.create(name, Vec::new()).await? {
            Creation::Present => self.check_listed(name).await,
            Creation::Created => Err(IndexError::Unconditional {
                uri: self.uri.clone(),
            }),
        }
    }

    async fn check_listed(&self, name: &str) -> Result<(), IndexError> {
        let path = self.path(name);
        let listed = self.list(&self.prefix).await?.objects;
        if listed.iter().any(|object| object.location == path) {
            return Ok(());
        }
        Err(self.leaves_out(name))
    }
}
