//! How long a model's calls take, and why a text has no vector or score.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

use evals_local::{LocalEmbedder, LocalSettings, open_reranker};
use evals_models::{EmbedError, Embedder, Failure, TextKind};
use serde_json::Value;
use tempfile::TempDir;

use crate::checkpoints::open;
use crate::failures::copy;

/// A checkpoint whose tokenizer adds no special tokens.
fn without_special_tokens(name: &str) -> TempDir {
    let folder = copy(name);
    let path = folder.path().join("tokenizer.json");
    let mut tokenizer: Value = read(&path);
    tokenizer["post_processor"] = Value::Null;
    fs::write(&path, tokenizer.to_string()).unwrap();
    folder
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn told(error: &dyn Error) -> String {
    error.source().map(ToString::to_string).unwrap_or_default()
}

#[tokio::test]
async fn texts_without_tokens_are_failures_of_their_own() {
    let settings = LocalSettings::default();
    let message = "text 1 of the batch has no tokens";
    let reranker = open_reranker(without_special_tokens("bert-reranker"), &settings).unwrap();
    let error = reranker.rerank("", &["gene", ""], 1).await.unwrap_err();
    assert_eq!(told(&error), message);
    assert_eq!(error.failure, Failure::Content);
    let no_prompt = LocalSettings {
        document_prompt: Some(String::new()),
        ..settings
    };
    let embedder = LocalEmbedder::open(without_special_tokens("bert"), &no_prompt).unwrap();
    let error = embedder.embed(&["gene", ""], TextKind::Document).await;
    let error = error.unwrap_err();
    assert_eq!(told(&error), message);
    assert!(matches!(
        error,
        EmbedError::Model {
            failure: Failure::Content,
            ..
        }
    ));
}

#[tokio::test]
async fn vectors_come_with_the_time_that_they_took() {
    let embedder = open("bert", &LocalSettings::default());
    let embeddings = embedder.embed(&["gene"], TextKind::Query).await.unwrap();
    assert!(embeddings.took().unwrap() > Duration::ZERO);
    assert!(!embeddings.is_cached());
}
