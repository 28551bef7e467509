//! Documents, their chunks, and the passages that searches return.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One document of a corpus, before it is split into chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The id of the document in judgements and rankings; unique within a corpus.
    pub uri: String,
    /// The title, where the source has one. People, models and filters see it. Searches find it only if [`text`](Self::text) contains it, as the
    /// documents of a manifest do.
    pub title: Option<String>,
    /// The text that is chunked, embedded and searched.
    pub text: String,
    /// Further columns of the source, kept for filters.
    pub metadata: Map<String, Value>,
}

/// A chunk of a document as an index holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk {
    /// The document the chunk was cut from.
    pub document: String,
    /// That document's title.
    pub title: Option<String>,
    /// That document's [metadata](Document::metadata).
    pub metadata: Map<String, Value>,
    /// The chunk's number within its document, from 0.
    pub ordinal: u32,
    /// The chunk's text, which is what was embedded.
    pub text: String,
    /// The embedding; `None` for a chunk without text, and if nobody asked for it.
    pub vector: Option<Vec<f32>>,
}

impl Chunk {
    /// The id of the chunk, unique within a corpus: `DOCUMENT#ORDINAL`.
    pub fn id(&self) -> String {
        format!("{}#{}", self.document, self.ordinal)
    }
}

/// A chunk of a document that a search returned, with the text a model will read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passage {
    /// The document the chunk was cut from.
    pub document: String,
    /// That document's title.
    pub title: Option<String>,
    /// The chunk's number within its document, from 0.
    pub ordinal: u32,
    /// The chunk's text.
    pub text: String,
    /// The score under the profile that found it; scores of different profiles cannot be compared.
    pub score: f32,
}
