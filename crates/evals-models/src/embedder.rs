use std::fmt::Debug;
use std::ops::Range;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{EmbedError, Embeddings, ModelIdentity};

/// The side of retrieval a text stands on. Models trained on pairs embed the two sides differently (a prefix, an instruction).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextKind {
    /// What somebody asks.
    Query,
    /// What may answer it.
    Document,
}

/// A model that turns texts into vectors of one fixed dimension, to be compared by cosine.
#[async_trait]
pub trait Embedder: Debug + Send + Sync {
    /// Names the model exactly enough that equal identities mean equal vectors.
    fn identity(&self) -> &ModelIdentity;

    /// Length of every vector this embedder returns.
    fn dimension(&self) -> usize;

    /// Tokens of a text that the model reads; what lies beyond is ignored. `None`: it reads all of it.
    fn max_tokens(&self) -> Option<usize>;

    /// What a report should say of how texts were embedded so far: of how many only the beginning was read.
    ///
    /// Default: nothing.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Tokens that the model read so far, where it tells of all of them.
    ///
    /// Default: it does not tell.
    fn input_tokens(&self) -> Option<u64> {
        None
    }

    /// The runs of texts that are sent, and paid for, together. A store before the model keeps what each brings as soon as it is
    /// there.
    ///
    /// Default: all of them.
    fn batches(&self, texts: &[&str]) -> Vec<Range<usize>> {
        let all = 0..texts.len();
        vec![all]
    }

    /// Embeds a batch: one row for each text, in the order of `texts`. An empty batch gives an empty matrix.
    ///
    /// A row does not depend on the texts around it, and passes [`check_direction`](crate::check_direction). A model that knows which
    /// texts it read only the beginning of [says so](Embeddings::with_cut).
    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError>;
}
