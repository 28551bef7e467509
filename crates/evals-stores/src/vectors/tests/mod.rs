//! Tests of the store of vectors and of the model in front of it.

mod caching;
mod keys;
mod processes;
mod storing;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tempfile::TempDir;
use tokio::sync::{Mutex, Semaphore};

use super::*;
use crate::store::{EntryKey, RefreshPolicy};
use evals_models::{EmbedError, Embedder, Embeddings, Failure, ModelIdentity, RowOrigin, TextKind};

/// Components of the vectors of [`Lengths`].
const DIMENSION: usize = 3;

/// A model whose vectors are made of the length of a text, its kind and a setting. It remembers what it was asked, and can be made to
/// hang and to fail.
#[derive(Debug)]
struct Lengths {
    identity: ModelIdentity,
    setting: f32,
    /// Bytes of a text beyond which it says that it read only the beginning. It says nothing of whole texts unless this is set.
    reads: Option<usize>,
    /// How long it says that it took.
    took: Option<Duration>,
    fails: Option<&'static str>,
    asked: Mutex<Vec<Vec<String>>>,
    /// A permit for each call that may go on.
    gate: Semaphore,
}

impl Lengths {
    fn new() -> Self {
        Self {
            identity: ModelIdentity::new("scripted", "lengths"),
            setting: 0.1,
            reads: None,
            took: None,
            fails: None,
            asked: Mutex::default(),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
        }
    }

    fn vector(&self, text: &str, kind: TextKind) -> [f32; DIMENSION] {
        let kind = match kind {
            TextKind::Query => -0.0,
            TextKind::Document => f32::MIN_POSITIVE / 8.0,
        };
        let length = u8::try_from(text.len()).unwrap();
        [f32::from(length) + 1.0 / 3.0, kind, self.setting]
    }

    /// The calls so far, the texts of each joined by blanks.
    async fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().await;
        asked.iter().map(|texts| texts.join(" ")).collect()
    }
}

#[async_trait]
impl Embedder for Lengths {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn max_tokens(&self) -> Option<usize> {
        Some(17)
    }

    fn notes(&self) -> Vec<String> {
        vec!["a note".to_owned()]
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
        let owned = texts.iter().map(ToString::to_string).collect();
        self.asked.lock().await.push(owned);
        self.gate.acquire().await.unwrap().forget();
        if texts.iter().any(|text| Some(*text) == self.fails) {
            return Err(EmbedError::Model {
                model: self.identity.clone(),
                texts: texts.len(),
                failure: Failure::Content,
                source: "no such text".into(),
            });
        }
        let values = texts.iter().flat_map(|text| self.vector(text, kind));
        let cut = texts.iter();
        let cut = cut.map(|text| self.reads.map(|reads| text.len() > reads));
        let embeddings = Embeddings::new(DIMENSION, values.collect())?.with_cut(cut.collect());
        Ok(match self.took {
            Some(took) => embeddings.with_origin(RowOrigin { stored: 0, took }),
            None => embeddings,
        })
    }
}

/// A model, the store before it, and the folder of the store.
struct Cached {
    model: CachedEmbedder,
    inner: Arc<Lengths>,
    folder: TempDir,
}

impl Cached {
    async fn before(inner: Lengths) -> Self {
        Self::within(tempfile::tempdir().unwrap(), inner).await
    }

    async fn within(folder: TempDir, inner: Lengths) -> Self {
        let inner = Arc::new(inner);
        Self {
            model: cached(&folder, Arc::clone(&inner)).await,
            inner,
            folder,
        }
    }

    async fn documents(&self, texts: &[&str]) -> Embeddings {
        self.model.embed(texts, TextKind::Document).await.unwrap()
    }
}

async fn cached(folder: &TempDir, inner: Arc<Lengths>) -> CachedEmbedder {
    CachedEmbedder::new(inner, open(folder).await)
}

async fn open(folder: &TempDir) -> EmbeddingStore {
    EmbeddingStore::open(file(folder)).await.unwrap()
}

fn file(folder: &TempDir) -> std::path::PathBuf {
    folder.path().join("vectors.sqlite")
}

fn key(text: &str) -> EntryKey {
    let model = ModelIdentity::new("scripted", "lengths");
    ModelKey::new(&model, DIMENSION, None).of(text, TextKind::Document)
}

fn vector(values: &[f32]) -> StoredVector {
    StoredVector {
        values: values.to_vec(),
        took: Duration::from_nanos(1_234_567),
        cut: None,
    }
}

async fn put(store: &EmbeddingStore, name: &str, values: &[f32]) {
    let model = ModelIdentity::new("scripted", "lengths");
    let vectors = vec![(key(name), vector(values))];
    store.put_all(&model, vectors).await.unwrap();
}

async fn get(store: &EmbeddingStore, name: &str) -> Option<StoredVector> {
    store.get_all(vec![key(name)]).await.unwrap().remove(0)
}

/// The messages of an error and of all its sources.
fn chain(error: &(dyn Error + 'static)) -> Vec<String> {
    std::iter::successors(Some(error), |error| (*error).source())
        .map(ToString::to_string)
        .collect()
}
