//! The body of a request for scores.

use serde::Serialize;

use crate::settings::RerankSettings;
use crate::settings::extra_body::Extended;

/// Fields that `extra_body` may not set, because the program fills them and could not read the answers to other values.
pub(super) const RESERVED: [&str; 4] = ["model", "query", "documents", "texts"];

/// How a server takes texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RerankShape {
    /// As `documents`, with the model's name.
    Documents,
    /// As `texts`, for text-embeddings-inference. It has one model, and refuses long texts unless it may cut them.
    Texts,
}

/// A request in either shape.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum RerankRequest<'a> {
    Documents {
        model: &'a str,
        query: &'a str,
        documents: &'a [String],
    },
    Texts {
        query: &'a str,
        texts: &'a [String],
        truncate: bool,
    },
}

/// The body of a request for the scores of a batch.
pub(super) fn body<'a>(
    shape: RerankShape,
    settings: &'a RerankSettings,
    query: &'a str,
    texts: &'a [String],
) -> Extended<'a, RerankRequest<'a>> {
    let request = match shape {
        RerankShape::Documents => RerankRequest::Documents {
            model: &settings.model,
            query,
            documents: texts,
        },
        RerankShape::Texts => RerankRequest::Texts {
            query,
            texts,
            truncate: true,
        },
    };
    Extended {
        request,
        extra_body: &settings.extra_body,
    }
}
