//! Builds the static model of this crate from all-MiniLM-L6-v2 by the method of model2vec.
//!
//! ```sh
//! cargo run --release -p evals-local --features distill --example distill -- <model folder> <output file>
//! ```
//!
//! The folder holds `config.json`, `model.safetensors` and `vocab.txt` as
//! <https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2> publishes them. The same input gives the same bytes on the same machine.

mod encoder;
mod principal;
mod quantize;
mod weights;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use sha2::{Digest, Sha256};

use crate::encoder::Encoder;
use crate::quantize::Quantized;

/// Principal components that are kept of the model's 384 dimensions.
const DIMENSION: usize = 256;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [model, output] = arguments.as_slice() else {
        bail!("usage: distill <model folder> <output file>");
    };
    let asset = distill(model)?;
    fs::write(output, asset).with_context(|| format!("cannot write `{}`", output.display()))
}

/// Runs all steps and returns the bytes of the static model.
fn distill(model: &Path) -> anyhow::Result<Vec<u8>> {
    let vocabulary = model.join("vocab.txt");
    let vocabulary = fs::read_to_string(&vocabulary)
        .with_context(|| format!("cannot read `{}`", vocabulary.display()))?;
    let tokens = vocabulary.lines().count();
    let encoder = Encoder::load(model)?;
    ensure!(
        tokens == encoder.vocabulary_size(),
        "`vocab.txt` has {tokens} lines, the model {} tokens",
        encoder.vocabulary_size()
    );

    let states = encoder.token_vectors()?;
    let mut vectors = principal::project(&states, DIMENSION);
    weights::weigh(&mut vectors);
    Ok(assemble(&vocabulary, &Quantized::new(&vectors)))
}

/// The layout of the crate's `static_embedder::asset`.
fn assemble(vocabulary: &str, vectors: &Quantized) -> Vec<u8> {
    let scales = vectors.scales.iter().flat_map(|scale| scale.to_le_bytes());
    let values = vectors.values.iter().map(|value| value.cast_unsigned());
    let body: Vec<u8> = vocabulary.bytes().chain(scales).chain(values).collect();

    let mut asset = b"EVSTATIC".to_vec();
    for number in [1, vectors.scales.len(), DIMENSION, vocabulary.len()] {
        let number = u32::try_from(number).expect("a vocabulary of some ten thousand short words");
        asset.extend(number.to_le_bytes());
    }
    asset.extend(Sha256::digest(&body));
    asset.extend(body);
    asset
}
