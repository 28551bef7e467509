//! Embedding models that run in the process.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use crate::digest;
use crate::encoder::Scratch;
use crate::error::LocalError;
use crate::folder::Folder;
use crate::model::{Model, named, numbers, threads};
use crate::reranking::is_late_interaction;
use crate::role;
use crate::sentence_transformers::Pipeline;
use crate::settings::LocalSettings;
use crate::tokenizer::Encoded;
use crate::vectors::{Projection, Subject, normalize};
use crate::workers::{Computed, Failed, TextFault, Workers};
use evals_models::wording::beginning;
use evals_models::{
    EmbedError, Embedder, Embeddings, ModelIdentity, RowOrigin, TextKind, check_direction,
};

/// An embedding model run in the process.
///
/// The vector of a text is the same to the last bit in every batch: texts are packed one after another without padding, and each
/// row of a matrix product is computed by itself.
#[derive(Debug)]
pub struct LocalEmbedder {
    identity: ModelIdentity,
    max_tokens: usize,
    encoder: Arc<TextEncoder>,
    workers: Workers,
}

/// Computes the vector of a text.
#[derive(Debug)]
struct TextEncoder {
    model: Model,
    pipeline: Pipeline,
    projection: Projection,
}

impl LocalEmbedder {
    /// Loads a model from a folder as the hub lays it out, or from the `main` revision of a repository in the hub's cache
    /// (`hub/models--owner--name`).
    ///
    /// The folder must have `config.json`, `tokenizer.json` and weights: `model.safetensors`, else `pytorch_model.bin`, or the shards
    /// of either. `modules.json` and the files that it names state the pooling, `config_sentence_transformers.json` states the
    /// prompts, and `settings` override both. Late-interaction models are refused, because they have no vector for a text, and so
    /// are rerankers whose `modules.json` states no pooling.
    pub fn open(path: impl AsRef<Path>, settings: &LocalSettings) -> Result<Self, LocalError> {
        let folder = Folder::open(path.as_ref())?;
        // Otherwise it would pass for a plain encoder, and its tokens would be averaged.
        if is_late_interaction(&folder)? {
            return Err(folder.refused(
                "holds a late-interaction model, which has no single vector for a text; use it as a reranker",
            ));
        }
        role::check_embedder(&folder, settings)?;
        let pipeline = Pipeline::read(&folder, settings)?;
        let (mut model, projection) = Model::open(&folder, settings.dtype, |parts| {
            let width = parts.encoder.width();
            Projection::load(&folder, &pipeline.dense, width, Subject::Text)
        })?;
        let window = model.window(settings, pipeline.max_tokens, false)?;
        let special = model.tokens.special(false);
        model.tokens = model.tokens.limited(&folder, window, pipeline.lowercase)?;
        let room = |kind, prompt| model.room(&folder, (kind, prompt), window, special);
        room(TextKind::Query, &pipeline.query_prompt)?;
        let max_tokens = room(TextKind::Document, &pipeline.document_prompt)?;
        let encoder = TextEncoder {
            model,
            pipeline,
            projection,
        };
        let identity = identity(&folder, settings, &encoder, window)?;
        Ok(Self {
            identity,
            max_tokens,
            encoder: Arc::new(encoder),
            workers: Workers::start(threads(settings))?,
        })
    }

    async fn vectors(&self, texts: &[&str]) -> Result<Computed<Vec<f32>>, Failed> {
        let encoder = Arc::clone(&self.encoder);
        let encode = move |text: &str| encoder.model.tokens.encode(text);
        let encoder = Arc::clone(&self.encoder);
        let vectors =
            move |texts: &[&Encoded], scratch: &mut Scratch| encoder.vectors(texts, scratch);
        let computed = self.workers.compute(texts, encode, vectors).await?;
        let vectors = computed.results.value.iter();
        for (index, (vector, text)) in vectors.zip(texts).enumerate() {
            check_direction(vector).map_err(|source| TextFault::Vector {
                index,
                beginning: beginning(text),
                source,
            })?;
        }
        Ok(computed)
    }
}

impl TextEncoder {
    fn vectors(&self, texts: &[&Encoded], scratch: &mut Scratch) -> Vec<Vec<f32>> {
        let width = self.model.encoder.width();
        self.model.encode(texts, scratch, |_, tokens, scratch| {
            let pooled = self.pipeline.pooling.pool(tokens, width);
            let mut vector = self.projection.apply(pooled, scratch);
            if self.pipeline.normalize {
                normalize(&mut vector);
            }
            vector
        })
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn dimension(&self) -> usize {
        self.encoder.projection.width
    }

    /// Special tokens and the tokens of the document prompt are not counted.
    fn max_tokens(&self) -> Option<usize> {
        Some(self.max_tokens)
    }

    /// How many texts were truncated so far.
    fn notes(&self) -> Vec<String> {
        self.workers.notes("text")
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
        let prompt = match kind {
            TextKind::Query => &self.encoder.pipeline.query_prompt,
            TextKind::Document => &self.encoder.pipeline.document_prompt,
        };
        let prompted: Vec<String> = texts.iter().map(|text| format!("{prompt}{text}")).collect();
        let prompted: Vec<&str> = prompted.iter().map(String::as_str).collect();
        let computed = self.vectors(&prompted).await;
        let Computed { results, cut } = computed.map_err(|source| EmbedError::Model {
            model: self.identity.clone(),
            texts: texts.len(),
            failure: TextFault::failure(&source),
            source,
        })?;
        let (stored, took) = (0, results.took);
        let embeddings = Embeddings::new(self.dimension(), results.value.concat())?;
        Ok(embeddings
            .with_cut(cut.into_iter().map(Some).collect())
            .with_origin(RowOrigin { stored, took }))
    }
}

/// Covers the weights and everything else that vectors depend on.
fn identity(
    folder: &Folder,
    settings: &LocalSettings,
    encoder: &TextEncoder,
    window: usize,
) -> Result<ModelIdentity, LocalError> {
    let TextEncoder {
        model,
        pipeline,
        projection,
    } = encoder;
    let length = if pipeline.normalize {
        "normalized"
    } else {
        "as-is"
    };
    let config = folder.bytes("config.json")?.unwrap_or_default();
    let tokenizer = folder.bytes("tokenizer.json")?.unwrap_or_default();
    let lowercase = pipeline.lowercase.to_string();
    let reading = model.tokens.fingerprint();
    let mut parts = vec![
        config.as_slice(),
        tokenizer.as_slice(),
        lowercase.as_bytes(),
        reading.as_bytes(),
        pipeline.query_prompt.as_bytes(),
        pipeline.document_prompt.as_bytes(),
    ];
    parts.extend(projection.digests.iter().map(String::as_bytes));
    let rest = digest::short(&parts);
    let digest = format!(
        "sha256:{},{},{length},{window},{},{rest}",
        model.digest,
        pipeline.pooling.name(),
        numbers(settings.dtype),
    );
    Ok(named(folder, settings, digest))
}
