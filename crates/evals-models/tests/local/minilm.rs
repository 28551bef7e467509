//! all-MiniLM-L6-v2 with its published weights, where `EVALUATIONS_REAL_HF_HOME` has them in its cache.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

use evals_models::local::{Dtype, LocalEmbedder, LocalSettings};
use evals_models::{Embedder, TextKind};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    texts: Vec<String>,
    vectors: Vec<Vec<f32>>,
    #[serde(flatten)]
    _origin: BTreeMap<String, String>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("golden/all-minilm-l6-v2.json")).unwrap()
}

fn model() -> Option<PathBuf> {
    let home = env::var_os("EVALUATIONS_REAL_HF_HOME").map(PathBuf::from);
    let model = home?.join("hub/models--sentence-transformers--all-MiniLM-L6-v2");
    model.is_dir().then_some(model)
}

#[expect(
    clippy::print_stderr,
    reason = "a test that needs more than the repository says that it is skipped"
)]
async fn least_cosine(dtype: Dtype) -> Option<f32> {
    let Some(model) = model() else {
        eprintln!(
            "skipped: EVALUATIONS_REAL_HF_HOME has no sentence-transformers/all-MiniLM-L6-v2"
        );
        return None;
    };
    let settings = LocalSettings {
        dtype,
        ..LocalSettings::default()
    };
    let embedder = LocalEmbedder::open(model, &settings).unwrap();
    let golden = golden();
    let texts: Vec<&str> = golden.texts.iter().map(String::as_str).collect();
    let found = embedder.embed(&texts, TextKind::Document).await.unwrap();
    let cosines = found
        .rows()
        .zip(&golden.vectors)
        .map(|(found, expected)| found.iter().zip(expected).map(|(a, b)| a * b).sum::<f32>());
    cosines.min_by(f32::total_cmp)
}

#[tokio::test]
async fn vectors_are_those_of_sentence_transformers() {
    if let Some(cosine) = least_cosine(Dtype::F32).await {
        assert!(cosine > 0.9999, "{cosine}");
    }
}

#[tokio::test]
async fn eight_bits_stay_close() {
    if let Some(cosine) = least_cosine(Dtype::Int8).await {
        assert!(cosine > 0.99, "{cosine}");
    }
}
