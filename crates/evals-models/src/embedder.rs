//! Embedding models.

use std::fmt::Debug;
use std::ops::Range;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::embeddings::Embeddings;
use crate::error::EmbedError;
use crate::identity::ModelIdentity;

/// The side of retrieval that a text is on. Many models embed the two sides differently, with a prefix or an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextKind {
    /// A text to search with.
    Query,
    /// A text to be found.
    Document,
}

/// A model that turns texts into vectors of one dimension, to be compared by cosine.
#[async_trait]
pub trait Embedder: Debug + Send + Sync {
    /// Names the model so exactly that equal identities mean equal vectors.
    fn identity(&self) -> &ModelIdentity;

    /// The length of every vector.
    fn dimension(&self) -> usize;

    /// How many tokens of a text the model reads; it ignores the rest. `None` means that it reads all of them.
    fn max_tokens(&self) -> Option<usize>;

    /// Notes for a report about the texts embedded so far, such as how many were truncated.
    ///
    /// Default: none.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Tokens that the model has read so far, if it reports them for every call.
    ///
    /// Default: not reported.
    fn input_tokens(&self) -> Option<u64> {
        None
    }

    /// The ranges of texts that are sent, and paid for, together. A store in front of the model stores the vectors of each range as
    /// soon as they arrive.
    ///
    /// Default: one range.
    fn batches(&self, texts: &[&str]) -> Vec<Range<usize>> {
        let all = 0..texts.len();
        vec![all]
    }

    /// Embeds a batch: one row for each text, in the order of `texts`. No texts give a matrix without rows.
    ///
    /// A row does not depend on the texts around it, and passes [`check_direction`](crate::check_direction). A model that knows which
    /// texts it truncated [reports them](Embeddings::with_cut).
    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError>;
}
