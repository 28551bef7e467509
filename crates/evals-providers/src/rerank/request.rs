use serde_json::{Map, Value, json};

use crate::{RerankSettings, extra_body};

/// Fields that `extra_body` may not set: the program fills them, and could not read what other values bring.
pub(super) const RESERVED: [&str; 4] = ["model", "query", "documents", "texts"];

/// How a server wants to be given texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// As `documents`, with the model's name.
    Documents,
    /// As `texts`, which text-embeddings-inference wants. It has one model, and refuses long texts unless it may cut them.
    Texts,
}

/// The request for the scores of a batch.
pub(super) fn body(
    shape: Shape,
    settings: &RerankSettings,
    query: &str,
    texts: &[String],
) -> Map<String, Value> {
    let body = match shape {
        Shape::Documents => json!({"model": settings.model, "query": query, "documents": texts}),
        Shape::Texts => json!({"query": query, "texts": texts, "truncate": true}),
    };
    let Value::Object(mut body) = body else {
        unreachable!("both shapes are objects")
    };
    extra_body::merge(&mut body, &settings.extra_body);
    body
}
