//! A chunk on its way into the table.

use std::ops::Range;
use std::sync::Arc;

use evals_models::ModelIdentity;
use evals_rag::Document;

use crate::chunking::Chunker;
use crate::embedding_defect::EmbeddingDefect;
use crate::error::IndexError;

/// A chunk that becomes a row.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) document: Arc<Document>,
    pub(super) ordinal: u32,
    pub(super) range: Range<usize>,
    pub(super) vector: Option<Box<[f32]>>,
    /// Whether the model truncated the text, if it says so.
    pub(super) cut: Option<bool>,
}

impl Chunk {
    pub(super) fn text(&self) -> &str {
        &self.document.text[self.range.clone()]
    }

    pub(super) fn defective(&self, model: &ModelIdentity, source: EmbeddingDefect) -> IndexError {
        IndexError::Embedding {
            model: model.clone(),
            document: self.document.uri.clone(),
            ordinal: self.ordinal,
            source,
        }
    }
}

/// Splits documents into the chunks of the table, in the order of its rows.
pub(super) fn chunks(documents: Vec<Document>, chunker: &Chunker) -> Vec<Chunk> {
    let mut chunks = Vec::with_capacity(documents.len());
    for document in documents {
        let document = Arc::new(document);
        let ranges = chunker.chunk(&document.text);
        chunks.extend((0..).zip(ranges).map(|(ordinal, range)| Chunk {
            document: Arc::clone(&document),
            ordinal,
            range,
            vector: None,
            cut: None,
        }));
    }
    chunks
}
