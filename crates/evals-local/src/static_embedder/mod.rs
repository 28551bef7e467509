//! The static embedder, whose model is part of the binary.

mod asset;
mod pooling;

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use rayon::prelude::*;
use thiserror::Error;

use self::asset::Asset;
use crate::wordpiece::{VocabularyError, WordPiece};
use evals_models::{EmbedError, Embedder, Embeddings, ModelIdentity, TextKind};

const STATIC_MINILM: &[u8] = include_bytes!("../../assets/static-minilm.bin");
/// How many texts a thread takes at a time: few enough that all threads finish together, and enough that taking them costs nothing.
const BLOCK: usize = 32;

/// Embeds a text as the weighted mean of fixed vectors of its tokens. There is no attention and no context, so it embeds tens of
/// thousands of texts a second on a laptop.
///
/// The vectors are distilled from [all-MiniLM-L6-v2](https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2) by the method of
/// [model2vec](https://github.com/MinishLab/model2vec): the example `distill` builds them. It is a baseline for real models,
/// not a substitute for one: on `beir:scifact` (exact search) it reaches nDCG@10 0.440 and R@100 0.818, all-MiniLM-L6-v2 itself 0.645
/// and 0.925.
///
/// It reads the whole text, however long. A text without any known token, such as an empty one, gets a fixed vector whose cosine with
/// other texts is near 0. Queries and documents are embedded alike. Vectors have length 1 and do not depend on the number of threads.
///
/// ```
/// use evals_local::StaticEmbedder;
/// use evals_models::Embedder;
///
/// let model = StaticEmbedder::static_minilm();
/// let embeddings = model.embed_batch(&["How do I get a refund?", "Money back", "The cat sleeps"]);
/// let cosine = |a, b| embeddings.row(a).unwrap().iter().zip(embeddings.row(b).unwrap()).map(|(a, b)| a * b).sum::<f32>();
/// assert_eq!(embeddings.dimension(), 256);
/// assert!(cosine(0, 1) > cosine(0, 2));
/// ```
#[derive(Clone, Debug)]
pub struct StaticEmbedder {
    asset: Arc<Asset>,
    tokenizer: Arc<WordPiece>,
    identity: ModelIdentity,
    dimension: usize,
}

/// Bytes are not a static model, or a damaged one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("static model is damaged: {0}")]
pub struct StaticModelError(&'static str);

impl StaticEmbedder {
    /// The model in this crate: `static-minilm`, 256 dimensions. Loading takes a few milliseconds the first time. After that all
    /// embedders of the process share its parts.
    pub fn static_minilm() -> Self {
        static MODEL: LazyLock<StaticEmbedder> = LazyLock::new(|| {
            StaticEmbedder::from_asset("static-minilm", STATIC_MINILM)
                .expect("the asset in this crate is intact, as its tests show")
        });
        MODEL.clone()
    }

    /// A model called `name`, in the layout that the example `distill` writes. Its digest is that of the content.
    ///
    /// # Errors
    ///
    /// The bytes are not a model, are damaged, or hold weights that would give infinite vectors.
    pub fn from_asset(name: &str, asset: &'static [u8]) -> Result<Self, StaticModelError> {
        let asset = Asset::parse(asset)?;
        let tokenizer = WordPiece::new(asset.vocabulary);
        let tokenizer = tokenizer
            .map_err(|VocabularyError| StaticModelError("its vocabulary has no `[UNK]`"))?;
        if tokenizer.vocabulary_size() != asset.scales.len() {
            return Err(StaticModelError("it has not one vector for each token"));
        }
        Ok(Self {
            identity: identity(name, &asset, asset.dimension),
            dimension: asset.dimension,
            tokenizer: Arc::new(tokenizer),
            asset: Arc::new(asset),
        })
    }

    /// Keeps the first `dimension` values of each vector. They are principal components, so the first ones matter most.
    ///
    /// A smaller dimension is another model: it becomes part of the digest of the identity.
    pub fn with_dimension(self, dimension: usize) -> Result<Self, EmbedError> {
        let available = self.asset.dimension;
        if (1..=available).contains(&dimension) {
            let identity = identity(&self.identity.name, &self.asset, dimension);
            Ok(Self {
                identity,
                dimension,
                ..self
            })
        } else {
            Err(EmbedError::Dimension {
                model: self.identity,
                requested: dimension,
                available,
            })
        }
    }

    /// The tokenizer of this model.
    pub fn tokenizer(&self) -> Arc<WordPiece> {
        Arc::clone(&self.tokenizer)
    }

    /// Embeds a batch on the calling thread, and on more threads if the batch is large.
    pub fn embed_batch(&self, texts: &[&str]) -> Embeddings {
        let mut values = vec![0.0; texts.len() * self.dimension];
        let embed = |(texts, vectors): (&[&str], &mut [f32])| {
            for (text, vector) in texts.iter().zip(vectors.chunks_exact_mut(self.dimension)) {
                pooling::embed(&self.asset, &self.tokenizer, text, vector);
            }
        };
        if texts.len() <= BLOCK {
            embed((texts, &mut values));
        } else {
            let vectors = values.par_chunks_mut(BLOCK * self.dimension);
            texts.par_chunks(BLOCK).zip(vectors).for_each(embed);
        }
        Embeddings::new(self.dimension, values)
            .expect("one row for each text, of at least one dimension")
            .with_cut(vec![Some(false); texts.len()])
    }
}

/// Covers everything that vectors depend on: the content of the asset, and how much of each vector is kept.
fn identity(name: &str, asset: &Asset, dimension: usize) -> ModelIdentity {
    let digest = if dimension == asset.dimension {
        format!("sha256:{}", asset.digest)
    } else {
        format!("sha256:{},dimension={dimension}", asset.digest)
    };
    ModelIdentity::new("embedded", name).with_digest(digest)
}

#[async_trait]
impl Embedder for StaticEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn max_tokens(&self) -> Option<usize> {
        None
    }

    /// Computes before the first await: a thousand texts take tens of milliseconds. Never fails.
    async fn embed(&self, texts: &[&str], _kind: TextKind) -> Result<Embeddings, EmbedError> {
        Ok(self.embed_batch(texts))
    }
}
