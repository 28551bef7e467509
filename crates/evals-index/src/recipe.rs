//! The ingredients of an index.

use std::sync::Arc;

use evals_models::Embedder;

use crate::chunking::Chunker;
use crate::full_text::FullText;
use crate::identity::{EmbedderIdentity, Identity};

/// The input of an index: the dataset, and the chunker, embedder and settings that turn its documents into rows.
///
/// A recipe holds the chunker and the embedder themselves and not only their names, so that its [`Identity`] is always the one that
/// the index will have.
///
/// ```
/// use evals_index::{Chunker, Recipe};
///
/// let recipe = Recipe::new("scifact@0a1b2c", Chunker::whole_documents());
/// assert!(recipe.identity().embedder().is_none());
/// ```
#[derive(Debug, Clone)]
pub struct Recipe {
    dataset: String,
    pub(crate) chunker: Chunker,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) full_text: FullText,
}

impl Recipe {
    /// A recipe without an embedder: the index has no vectors, and serves only profiles that need none.
    ///
    /// `dataset` is the fingerprint of the documents. Equal fingerprints promise the same documents in the same order.
    pub fn new(dataset: impl Into<String>, chunker: Chunker) -> Self {
        Self {
            dataset: dataset.into(),
            chunker,
            embedder: None,
            full_text: FullText::default(),
        }
    }

    /// Embeds chunks and questions with `embedder`.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        Self {
            embedder: Some(embedder),
            ..self
        }
    }

    /// Sets how the full-text index splits text into terms; the default is for English. The setting is part of the identity, so each
    /// value has an index of its own.
    ///
    /// ```
    /// use evals_index::{Chunker, FullText, Recipe};
    ///
    /// let german = FullText { language: "German".to_owned(), ..FullText::default() };
    /// let recipe = Recipe::new("tagesschau", Chunker::whole_documents()).with_full_text(german);
    /// assert_eq!(recipe.identity().full_text().language, "German");
    /// ```
    #[must_use]
    pub fn with_full_text(self, full_text: FullText) -> Self {
        Self { full_text, ..self }
    }

    /// The identity of an index made by this recipe.
    pub fn identity(&self) -> Identity {
        let embedder = self.embedder.as_ref().map(|embedder| EmbedderIdentity {
            model: embedder.identity().clone(),
            dimension: embedder.dimension(),
        });
        Identity::new(
            self.dataset.clone(),
            self.chunker.identity(),
            embedder,
            self.full_text.clone(),
        )
    }
}
