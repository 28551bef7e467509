//! Runs all-MiniLM-L6-v2 in another engine, and prints the figures that `benches/local.rs` prints for the engine of this
//! repository.
//!
//! ```text
//! bake-off candle|candle-packed|rten|ort f32|int8 TEXTS_OF_A_BATCH
//! ```
//!
//! `EVALUATIONS_LOCAL_MODEL` names the model's folder, `EVALUATIONS_LOCAL_ONNX` the folder of `f32.onnx` and `int8.onnx`,
//! `EVALUATIONS_LOCAL_TEXTS` a file with an array of texts, `EVALUATIONS_LOCAL_VECTORS` the file for their vectors and `ORT_DYLIB_PATH`
//! the library of ONNX Runtime. A batch has texts that are next to each other by length, padded to the longest of them; candle-packed
//! leaves the padding out. candle has no int8. `scripts/bake-off` prepares all of this and compares the vectors.

mod batch;
mod engine;
#[path = "../../../crates/evals-local/benches/local/figures.rs"]
mod figures;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;
use std::{env, fs};

use anyhow::{Context, Result, bail};
use batch::{Batches, Engine};
use engine::{Candle, CandlePacked, Ort, Rten};
use figures::Run;

/// How many threads compute. Those of candle and rten are set by `RAYON_NUM_THREADS` and `RTEN_NUM_THREADS`.
const THREADS: usize = 2;

fn main() -> Result<()> {
    let started = Instant::now();
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [name, dtype, size] = arguments.as_slice() else {
        bail!("usage: bake-off candle|candle-packed|rten|ort f32|int8 TEXTS_OF_A_BATCH");
    };
    let folder = path("EVALUATIONS_LOCAL_MODEL")?;
    let batches = Batches::open(&folder, size.parse::<NonZeroUsize>()?.get())?;
    let mut engine = open(name, dtype)?;
    batches.embed(engine.as_mut(), &["first".to_owned()])?;
    let first_vector = started.elapsed();

    let texts = fs::read(path("EVALUATIONS_LOCAL_TEXTS")?)?;
    let texts: Vec<String> = serde_json::from_slice(&texts)?;
    let run = Run::begin(first_vector)?;
    let vectors = batches.embed(engine.as_mut(), &texts)?;
    println!("{}", run.end(&format!("{name} {dtype}"), texts.len())?);
    figures::write_vectors(&vectors.concat())
}

fn open(name: &str, dtype: &str) -> Result<Box<dyn Engine>> {
    let onnx = || {
        Ok::<_, anyhow::Error>(
            path("EVALUATIONS_LOCAL_ONNX")?
                .join(dtype)
                .with_extension("onnx"),
        )
    };
    let model = || path("EVALUATIONS_LOCAL_MODEL");
    Ok(match (name, dtype) {
        ("candle", "f32") => Box::new(Candle::open(&model()?)?),
        ("candle-packed", "f32") => Box::new(CandlePacked::open(&model()?)?),
        ("rten", "f32" | "int8") => Box::new(Rten::open(&onnx()?)?),
        ("ort", "f32" | "int8") => Box::new(Ort::open(&onnx()?, THREADS)?),
        _ => bail!("no engine `{name}` with `{dtype}`"),
    })
}

fn path(variable: &str) -> Result<PathBuf> {
    let path = env::var_os(variable).with_context(|| format!("`{variable}` is not set"))?;
    Ok(PathBuf::from(path))
}
