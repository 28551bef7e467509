//! ONNX Runtime, by its Rust bindings.

use std::path::Path;

use anyhow::Result;
use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::Tensor;

use crate::batch::{Batch, Engine};

/// ONNX Runtime on an ONNX file.
pub(crate) struct Ort(Session);

impl Ort {
    pub(crate) fn open(file: &Path, threads: usize) -> Result<Self> {
        Ok(Self(session(file, threads)?))
    }
}

fn session(file: &Path, threads: usize) -> ort::Result<Session> {
    let environment = ort::init().build()?;
    Session::builder(&environment)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(threads)?
        .commit_from_file(file)
}

impl Engine for Ort {
    fn states(&mut self, batch: &Batch) -> Result<Vec<f32>> {
        let tensor = |values: &[u32]| {
            let values: Vec<i64> = values.iter().map(|&value| i64::from(value)).collect();
            Tensor::from_array(([batch.texts, batch.length], values))
        };
        let states = self.0.run(ort::inputs![
            "input_ids" => tensor(&batch.ids)?,
            "attention_mask" => tensor(&batch.mask)?,
            "token_type_ids" => tensor(&vec![0; batch.ids.len()])?,
        ])?;
        let (_, states) = states["states"].try_extract_tensor::<f32>()?;
        Ok(states.to_vec())
    }
}
