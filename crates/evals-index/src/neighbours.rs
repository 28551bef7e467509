//! Reading the chunks around a passage.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use evals_rag::qa::Neighbours;
use evals_rag::{Passage, SearchError};

use crate::search::{Hit, passages};
use crate::table::contents::Contents;

/// Reads the chunks of a document by their numbers.
#[derive(Debug)]
pub(crate) struct IndexNeighbours {
    contents: Arc<Contents>,
    /// Numbers of the documents by uri, computed for the first question that needs them.
    documents: OnceLock<HashMap<Box<str>, usize>>,
}

impl IndexNeighbours {
    pub(crate) fn new(contents: Arc<Contents>) -> Self {
        Self {
            contents,
            documents: OnceLock::new(),
        }
    }

    fn document(&self, uri: &str) -> Option<usize> {
        let uris = || self.contents.positions.uris().iter().cloned().zip(0..);
        let documents = self.documents.get_or_init(|| uris().collect());
        documents.get(uri).copied()
    }
}

#[async_trait]
impl Neighbours for IndexNeighbours {
    async fn chunks(
        &self,
        document: &str,
        ordinals: RangeInclusive<u32>,
    ) -> Result<Vec<Passage>, SearchError> {
        let Some(document) = self.document(document) else {
            return Ok(Vec::new());
        };
        let positions = &self.contents.positions;
        let chunks = positions.chunks_of(document);
        let first = chunks.start.saturating_add(*ordinals.start() as usize);
        let end = chunks
            .start
            .saturating_add(*ordinals.end() as usize)
            .saturating_add(1);
        let hits: Vec<Hit> = (first..end.min(chunks.end))
            .map(|position| Hit::new(position, 0.0))
            .collect();
        let fetch = passages::fetch(&hits, &self.contents.table, positions);
        let fetched = self.contents.guarded(fetch).await;
        fetched.map_err(SearchError::from)
    }
}
