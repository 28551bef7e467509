//! The measurements of a run as a line of JSON, and its vectors in a file, so that they can be compared.

use std::time::{Duration, Instant};
use std::{env, fs};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Texts that are being embedded.
pub(crate) struct Run {
    first_vector: Duration,
    begun: Instant,
    processor: Option<f64>,
}

impl Run {
    /// Starts the clock in a process that had its first vector after `first_vector`.
    pub(crate) fn begin(first_vector: Duration) -> Result<Self> {
        Ok(Self {
            first_vector,
            processor: processor_seconds()?,
            begun: Instant::now(),
        })
    }

    /// The figures of `engine`, which has embedded `texts` since.
    pub(crate) fn end(&self, engine: &str, texts: usize) -> Result<Value> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let processor = processor_seconds()?
            .zip(self.processor)
            .map(|(after, before)| after - before);
        let count = f64::from(u32::try_from(texts)?);
        Ok(json!({
            "engine": engine,
            "documents_per_second": (count / seconds * 10.0).round() / 10.0,
            "processor_milliseconds_per_document": processor.map(|seconds| (seconds / count * 10_000.0).round() / 10.0),
            "first_vector_seconds": (self.first_vector.as_secs_f64() * 100.0).round() / 100.0,
            "peak_megabytes": peak_megabytes()?,
        }))
    }
}

/// Writes vectors, row after row as little-endian floats, to the file that `EVALUATIONS_LOCAL_VECTORS` names, if it does.
pub(crate) fn write_vectors(values: &[f32]) -> Result<()> {
    let Ok(path) = env::var("EVALUATIONS_LOCAL_VECTORS") else {
        return Ok(());
    };
    let bytes = values.iter().flat_map(|value| value.to_le_bytes());
    fs::write(&path, bytes.collect::<Vec<_>>()).with_context(|| format!("cannot write `{path}`"))
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
