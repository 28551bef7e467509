//! candle, as its examples use it: texts of a batch padded to the longest.

use std::fs;
use std::path::Path;

use anyhow::Result;
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};

use crate::batch::{Batch, Engine};

/// The BERT of `candle-transformers`.
pub(crate) struct Candle(BertModel);

impl Candle {
    pub(crate) fn open(model: &Path) -> Result<Self> {
        let (config, weights) = read(model)?;
        Ok(Self(BertModel::load(weights, &config)?))
    }
}

pub(super) fn read(model: &Path) -> Result<(Config, VarBuilder<'static>)> {
    let config = serde_json::from_slice(&fs::read(model.join("config.json"))?)?;
    let weights = fs::read(model.join("model.safetensors"))?;
    let weights = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)?;
    Ok((config, weights))
}

impl Engine for Candle {
    fn states(&mut self, batch: &Batch) -> Result<Vec<f32>> {
        let shape = (batch.texts, batch.length);
        let ids = Tensor::from_slice(&batch.ids, shape, &Device::Cpu)?;
        let mask = Tensor::from_slice(&batch.mask, shape, &Device::Cpu)?;
        let states = self.0.forward(&ids, &ids.zeros_like()?, Some(&mask))?;
        Ok(states.flatten_all()?.to_vec1()?)
    }
}
