//! all-MiniLM-L6-v2 with its published weights, where `EVALUATIONS_TEST_MODELS` names the folder that
//! `scripts/fetch-test-model` lays out.
//!
//! The golden vectors are those of sentence-transformers 6.2.0 with torch 2.15.0 in f32, each text embedded alone.

use std::collections::BTreeMap;
use std::env;
use std::io::Write as _;
use std::path::PathBuf;

use evals_local::{Dtype, LocalEmbedder, LocalSettings};
use evals_models::{Embedder, TextKind};
use serde::Deserialize;

/// The checksum that the hub states for `model.safetensors`.
const WEIGHTS: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";

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

/// The model; `None`, said aloud, where it was not fetched.
fn embedder(dtype: Dtype) -> Option<LocalEmbedder> {
    let Some(home) = env::var_os("EVALUATIONS_TEST_MODELS").filter(|home| !home.is_empty()) else {
        // Not `eprintln!`, which the test harness keeps to itself where a test passes.
        let text = b"skipped: EVALUATIONS_TEST_MODELS names no folder with all-MiniLM-L6-v2, which `make test` fetches\n";
        std::io::stderr().write_all(text).unwrap();
        return None;
    };
    let model = PathBuf::from(home).join("hub/models--sentence-transformers--all-MiniLM-L6-v2");
    let settings = LocalSettings {
        dtype,
        ..LocalSettings::default()
    };
    Some(LocalEmbedder::open(model, &settings).unwrap())
}

/// The cosine of each text's vector with its golden one, all embedded together.
async fn cosines(embedder: &LocalEmbedder) -> Vec<(String, f32)> {
    let golden = golden();
    let texts: Vec<&str> = golden.texts.iter().map(String::as_str).collect();
    let found = embedder.embed(&texts, TextKind::Document).await.unwrap();
    assert_eq!(found.len(), golden.vectors.len());
    let cosines = found
        .rows()
        .zip(&golden.vectors)
        .map(|(found, expected)| found.iter().zip(expected).map(|(a, b)| a * b).sum::<f32>());
    golden.texts.iter().cloned().zip(cosines).collect()
}

#[tokio::test]
async fn vectors_are_those_of_sentence_transformers() {
    let Some(embedder) = embedder(Dtype::F32) else {
        return;
    };
    for (text, cosine) in cosines(&embedder).await {
        assert!(cosine > 0.9999, "{cosine}: {text:?}");
    }
}

/// docs/local-models.md states the bound.
#[tokio::test]
async fn eight_bits_stay_close() {
    let Some(embedder) = embedder(Dtype::Int8) else {
        return;
    };
    // A processor that keeps seven bits of weights makes steps of twice the size.
    let digest = embedder.identity().digest.clone().unwrap();
    let least = if digest.contains("7bit") { 0.985 } else { 0.99 };
    for (text, cosine) in cosines(&embedder).await {
        assert!(cosine > least, "{cosine}: {text:?}");
    }
}

#[test]
fn the_model_is_the_one_that_the_hub_has() {
    let Some(embedder) = embedder(Dtype::F32) else {
        return;
    };
    let identity = embedder.identity();
    assert_eq!(identity.name, "sentence-transformers/all-MiniLM-L6-v2");
    let digest = identity.digest.as_deref().unwrap();
    let settled = digest.starts_with(&format!("sha256:{WEIGHTS},mean,normalized,256,f32,"));
    assert!(settled, "{digest}");
    assert_eq!(
        (embedder.dimension(), embedder.max_tokens()),
        (384, Some(254)),
        "256 tokens with those that frame a text"
    );
}
