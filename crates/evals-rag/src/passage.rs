use serde::{Deserialize, Serialize};

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
