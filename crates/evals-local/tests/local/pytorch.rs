//! Weights in files of `PyTorch` give what the same weights give in safetensors.

use std::fs;
use std::path::Path;

use evals_local::{LocalEmbedder, LocalSettings};
use evals_models::{Embedder, TextKind};
use tempfile::TempDir;

use crate::checkpoints::checkpoint;
use crate::failures::{copy, refusal};

const SHARDS: [&str; 3] = [
    "pytorch_model.bin.index.json",
    "pytorch_model-00001-of-00002.bin",
    "pytorch_model-00002-of-00002.bin",
];

/// The checkpoint `bert` with these files in place of its weights.
fn with(files: &[&str]) -> TempDir {
    let folder = copy("bert");
    fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    for file in files {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/local/pytorch");
        fs::copy(from.join(file), folder.path().join(file)).unwrap();
    }
    folder
}

fn open(folder: impl AsRef<Path>) -> LocalEmbedder {
    LocalEmbedder::open(folder, &LocalSettings::default()).unwrap()
}

async fn vectors(embedder: &LocalEmbedder) -> Vec<f32> {
    let texts = ["the protein increases risk", "", "vaccine and lung"];
    let found = embedder.embed(&texts, TextKind::Document).await.unwrap();
    found.values().to_vec()
}

#[tokio::test]
async fn one_file_or_shards_give_the_same_to_the_last_bit() {
    let expected = vectors(&open(checkpoint("bert"))).await;
    assert_eq!(vectors(&open(with(&["pytorch_model.bin"]))).await, expected);
    assert_eq!(vectors(&open(with(&SHARDS))).await, expected);
}

#[test]
fn safetensors_go_first() {
    let folder = copy("bert");
    let alone = open(&folder).identity().clone();
    fs::write(folder.path().join("pytorch_model.bin"), "no archive").unwrap();
    let both = open(&folder).identity().clone();
    assert_eq!(alone.digest, both.digest);
    let other = open(with(&["pytorch_model.bin"]));
    assert_ne!(alone.digest, other.identity().digest);
}

#[test]
fn damaged_files_are_named() {
    let folder = with(&["pytorch_model.bin"]);
    let path = folder.path().join("pytorch_model.bin");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let (message, source) = refusal(&folder, &LocalSettings::default());
    assert_eq!(
        message,
        "`pytorch_model.bin` does not hold the weights that `config.json` describes"
    );
    assert!(source.starts_with("the archive is damaged: "), "{source}");
    let folder = with(&SHARDS[..2]);
    assert_eq!(
        refusal(&folder, &LocalSettings::default()).0,
        "cannot read `pytorch_model-00002-of-00002.bin`"
    );
}
