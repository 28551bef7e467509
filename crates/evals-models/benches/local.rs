//! Speed of a local model: documents per second, seconds to the first vector, peak memory, as one line of JSON for each run.
//!
//! ```text
//! EVALUATIONS_LOCAL_MODEL=folder EVALUATIONS_LOCAL_TEXTS=texts.json cargo bench -p evals-models --features local --bench local -- int8
//! ```
//!
//! `EVALUATIONS_LOCAL_VECTORS=file` also writes the vectors, as little-endian floats row after row.
//!
//! `texts.json` is an array of texts; `tests/local/measure_sentence_transformers.py` writes one and measures the same with
//! sentence-transformers. A process runs one dtype (`f32` unless said otherwise), because peak memory is that of the process.

#![expect(clippy::print_stdout, reason = "a benchmark's figures are its output")]

use std::time::Instant;
use std::{env, fs};

use anyhow::{Context, Result};
use evals_models::local::{Dtype, LocalEmbedder, LocalSettings};
use evals_models::{Embedder, TextKind};
use serde_json::json;

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
    let first = started.elapsed().as_secs_f64();
    let texts: Vec<String> = serde_json::from_slice(&fs::read(&texts)?)?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (begun, processor) = (Instant::now(), processor_seconds()?);
    let vectors = embedder.embed(&texts, TextKind::Document).await?;
    let seconds = begun.elapsed().as_secs_f64();
    let processor = processor_seconds()?
        .zip(processor)
        .map(|(after, before)| after - before);
    let count = f64::from(u32::try_from(texts.len())?);
    let figures = json!({
        "engine": format!("evaluations {}", dtype.name()),
        "documents_per_second": (count / seconds * 10.0).round() / 10.0,
        "processor_milliseconds_per_document": processor.map(|seconds| (seconds / count * 10_000.0).round() / 10.0),
        "first_vector_seconds": (first * 100.0).round() / 100.0,
        "peak_megabytes": peak_megabytes()?,
    });
    println!("{figures}");
    if let Ok(path) = env::var("EVALUATIONS_LOCAL_VECTORS") {
        let bytes = vectors
            .values()
            .iter()
            .flat_map(|value| value.to_le_bytes());
        fs::write(path, bytes.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// The most memory that the process has held, as Linux counts it.
fn peak_megabytes() -> Result<Option<u64>> {
    let Ok(status) = fs::read_to_string("/proc/self/status") else {
        return Ok(None);
    };
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    let kilobytes = kilobytes
        .map(str::parse::<u64>)
        .transpose()
        .context("VmHWM is no number")?;
    Ok(kilobytes.map(|kilobytes| kilobytes / 1024))
}

/// Seconds that the process's threads have run, as Linux counts them in hundredths. They say how fast code is also on a
/// machine that others use too.
fn processor_seconds() -> Result<Option<f64>> {
    let Ok(statistics) = fs::read_to_string("/proc/self/stat") else {
        return Ok(None);
    };
    let (_, fields) = statistics.rsplit_once(')').context("no process name")?;
    let ticks = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse::<f64>);
    Ok(Some(ticks.sum::<Result<f64, _>>()? / 100.0))
}
