//! The corpora, models and fixtures of these tests.

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use evals_index::{
    BuildOptions, Built, Chunker, Index, IndexError, Profile, Recipe, SearchOptions, Store,
    Unobserved,
};
use evals_models::{EmbedError, Embedder, Embeddings, ModelIdentity, TextKind};
use evals_rag::{Document, Retrieved};
use serde_json::{Map, Value};
use tempfile::TempDir;

use crate::words::Words;

/// A document with the metadata `{"topic": <first letter of the uri>}`.
pub(crate) fn document(uri: &str, text: &str) -> Document {
    let topic = uri.get(..1).unwrap_or_default().to_owned();
    Document {
        uri: uri.to_owned(),
        title: Some(format!("Title of {uri}")),
        text: text.to_owned(),
        metadata: Map::from_iter([("topic".to_owned(), Value::String(topic))]),
    }
}

pub(crate) fn documents(texts: &[(&str, &str)]) -> Vec<Document> {
    texts
        .iter()
        .map(|(uri, text)| document(uri, text))
        .collect()
}

/// Documents with texts that repeat words in many combinations, so that scores differ and tie.
pub(crate) fn generated(count: usize) -> Vec<Document> {
    const WORDS: [&str; 11] = [
        "amber", "birch", "cobalt", "dune", "ember", "fjord", "garnet", "harbor", "indigo",
        "jasper", "kelp",
    ];
    let text = |number: usize| {
        let words: Vec<_> = (0..3 + number % 5)
            .map(|word| WORDS[(number * 7 + word * word * 3) % WORDS.len()])
            .collect();
        words.join(" ")
    };
    (0..count)
        .map(|number| document(&format!("d{:05}", number * 7919 % 100_003), &text(number)))
        .collect()
}

/// A model that counts letters in 16 buckets, so tests can compute its cosines.
#[derive(Debug)]
pub(crate) struct Letters(ModelIdentity);

impl Letters {
    pub(crate) fn named(name: &str) -> Arc<dyn Embedder> {
        Arc::new(Self(ModelIdentity::new("test", name)))
    }

    pub(crate) fn vector(text: &str) -> Vec<f32> {
        let mut counts = vec![0_u16; 16];
        for letter in text.to_lowercase().bytes() {
            counts[usize::from(letter % 16)] += 1;
        }
        counts.into_iter().map(f32::from).collect()
    }
}

#[async_trait]
impl Embedder for Letters {
    fn identity(&self) -> &ModelIdentity {
        &self.0
    }

    fn dimension(&self) -> usize {
        16
    }

    fn max_tokens(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, texts: &[&str], _kind: TextKind) -> Result<Embeddings, EmbedError> {
        let values = texts.iter().flat_map(|text| Self::vector(text)).collect();
        Ok(Embeddings::new(16, values)?)
    }
}

pub(crate) fn chunks_of(words: usize) -> Chunker {
    Chunker::tokens(words.try_into().unwrap(), 0, Arc::new(Words)).unwrap()
}

pub(crate) fn lexical() -> Recipe {
    Recipe::new("test", Chunker::whole_documents())
}

pub(crate) fn embedded() -> Recipe {
    lexical().with_embedder(Letters::named("letters"))
}

pub(crate) fn ok(documents: Vec<Document>) -> Vec<Result<Document, Infallible>> {
    documents.into_iter().map(Ok).collect()
}

pub(crate) async fn try_build(
    folder: &Path,
    recipe: &Recipe,
    documents: Vec<Document>,
) -> Result<Built, IndexError> {
    let store = Store::open(folder.to_str().unwrap()).await?;
    let options = BuildOptions::default();
    Index::build(&store, recipe, ok(documents), &options, &Unobserved).await
}

/// An index in a temporary folder, which is deleted with it.
pub(crate) struct Fixture {
    pub(crate) index: Index,
    pub(crate) folder: TempDir,
}

impl Fixture {
    pub(crate) async fn new(recipe: &Recipe, documents: Vec<Document>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let built = try_build(folder.path(), recipe, documents).await.unwrap();
        assert!(built.report.is_some());
        Self {
            index: built.index,
            folder,
        }
    }

    pub(crate) async fn store(&self) -> Store {
        Store::open(self.folder.path().to_str().unwrap())
            .await
            .unwrap()
    }

    pub(crate) async fn retrieve(&self, profile: &str, question: &str, k: usize) -> Retrieved {
        self.retrieve_with(profile, question, k, SearchOptions::default())
            .await
    }

    pub(crate) async fn retrieve_with(
        &self,
        profile: &str,
        question: &str,
        k: usize,
        options: SearchOptions,
    ) -> Retrieved {
        let profile: Profile = profile.parse().unwrap();
        let searcher = self.index.searcher(profile, &options).await.unwrap();
        searcher.search(question, k).await.unwrap()
    }

    /// Ids and scores of the `k` best documents.
    pub(crate) async fn ranking(
        &self,
        profile: &str,
        question: &str,
        k: usize,
    ) -> Vec<(String, f32)> {
        pairs(&self.retrieve(profile, question, k).await)
    }
}

pub(crate) fn pairs(retrieved: &Retrieved) -> Vec<(String, f32)> {
    let ranking = retrieved.ranking.iter();
    ranking
        .map(|document| (document.id.clone(), document.score))
        .collect()
}

pub(crate) fn ids(ranking: &[(String, f32)]) -> Vec<&str> {
    ranking.iter().map(|(id, _)| id.as_str()).collect()
}

/// The messages of an error and its sources.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        message.push_str(": ");
        message.push_str(&error.to_string());
        source = error.source();
    }
    message
}
