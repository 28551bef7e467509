//! Speed of a local model: documents per second, seconds to the first vector, peak memory, as one line of JSON for each run.
//!
//! ```text
//! EVALUATIONS_LOCAL_MODEL=folder EVALUATIONS_LOCAL_TEXTS=texts.json cargo bench -p evals-local --bench local -- int8
//! ```
//!
//! `EVALUATIONS_LOCAL_VECTORS=file` also writes the vectors, as little-endian floats row after row.
//!
//! `texts.json` is an array of texts; `tests/local/measure_sentence_transformers.py` writes one and measures the same with
//! sentence-transformers. A process runs one dtype (`f32` unless said otherwise), because peak memory is that of the process.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use std::time::Instant;
use std::{env, fs};

use anyhow::Result;
use evals_local::{Dtype, LocalEmbedder, LocalSettings};
use evals_models::{Embedder, TextKind};
use figures::Run;

#[path = "local/figures.rs"]
mod figures;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let started = Instant::now();
    let (Ok(model), Ok(texts)) = (
        env::var("EVALUATIONS_LOCAL_MODEL"),
        env::var("EVALUATIONS_LOCAL_TEXTS"),
    ) else {
        println!("skipped: EVALUATIONS_LOCAL_MODEL and EVALUATIONS_LOCAL_TEXTS are not set");
        return Ok(());
    };
    let dtype = if env::args().any(|argument| argument == "int8") {
        Dtype::Int8
    } else {
        Dtype::F32
    };
    let settings = LocalSettings {
        dtype,
        ..LocalSettings::default()
    };
    let embedder = LocalEmbedder::open(&model, &settings)?;
    embedder.embed(&["first"], TextKind::Query).await?;
    let first_vector = started.elapsed();
    let texts: Vec<String> = serde_json::from_slice(&fs::read(&texts)?)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let run = Run::begin(first_vector)?;
    let vectors = embedder.embed(&texts, TextKind::Document).await?;
    println!(
        "{}",
        run.end(&format!("evaluations {}", dtype.name()), texts.len())?
    );
    figures::write_vectors(vectors.values())
}
