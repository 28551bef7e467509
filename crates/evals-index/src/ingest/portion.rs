use evals_rag::Document;

/// Most documents in a portion.
const MOST_DOCUMENTS: usize = 128;
/// Text at which a portion is full; the last document may exceed it.
const FULL_BYTES: usize = 1 << 20;

/// Consecutive documents that one task chunks and embeds, and that are committed together.
#[derive(Debug, Default)]
pub(super) struct Portion {
    pub(super) documents: Vec<Document>,
    bytes: usize,
}

impl Portion {
    pub(super) fn push(&mut self, document: Document) {
        self.bytes += document.text.len();
        self.documents.push(document);
    }

    pub(super) fn is_full(&self) -> bool {
        self.documents.len() >= MOST_DOCUMENTS || self.bytes >= FULL_BYTES
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }
}
