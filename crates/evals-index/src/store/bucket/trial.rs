//! Proves that a store honours conditions and lets objects be written and deleted.

use std::hash::{BuildHasher, Hasher, RandomState};

use super::{Bucket, Creation};
use crate::error::IndexError;

impl Bucket {
    /// Creates an object twice and deletes it. Fails if the second request replaces it, or if the object stays.
    pub(in crate::store) async fn try_writing(&self) -> Result<(), IndexError> {
        let token = RandomState::new().build_hasher().finish();
        let name = format!("evaluations-trial-{token:016x}");
        // The first request may find the object, too: if its answer got lost and it was repeated.
        if let Err(refused) = self.create(&name, Vec::new()).await {
            // The object may exist if no answer came. A store that refuses to create one may also refuse to delete it.
            let _ = self.delete(&name).await;
            return Err(refused);
        }
        let replaced = match self.create(&name, Vec::new()).await {
            Ok(Creation::Present) => Ok(()),
            Ok(Creation::Created) => Err(IndexError::Unconditional {
                uri: self.uri.clone(),
            }),
            Err(failed) => Err(failed),
        };
        match self.delete(&name).await {
            Ok(()) => replaced,
            Err(source) => Err(IndexError::Trial {
                object: self.address(&name),
                source: Box::new(replaced.err().unwrap_or(source)),
            }),
        }
    }
}
