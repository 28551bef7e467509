//! The transformer all-MiniLM-L6-v2, run by candle.

use std::fs;
use std::path::Path;

use anyhow::Context;
use candle_core::{DType, Device, IndexOp, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};

/// Positions of `[CLS]` and `[SEP]` in the vocabulary of BERT's uncased models.
const START: u32 = 101;
const END: u32 = 102;
/// Tokens that go through the model at a time.
const BATCH: usize = 512;

/// The sentence transformer that is distilled.
pub(crate) struct Encoder {
    model: BertModel,
    config: Config,
}

/// One vector for each token of the vocabulary.
pub(crate) type Vectors = Vec<Vec<f64>>;

impl Encoder {
    pub(crate) fn load(folder: &Path) -> anyhow::Result<Self> {
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))
        };
        let config: Config = serde_json::from_slice(&read("config.json")?)
            .context("`config.json` is not that of a BERT model")?;
        let weights = VarBuilder::from_buffered_safetensors(
            read("model.safetensors")?,
            DType::F32,
            &Device::Cpu,
        )?;
        let model = BertModel::load(weights, &config)
            .context("`model.safetensors` does not fit `config.json`")?;
        Ok(Self { model, config })
    }

    pub(crate) fn vocabulary_size(&self) -> usize {
        self.config.vocab_size
    }

    /// The last state of `[CLS]` where each token stands alone between `[CLS]` and `[SEP]`.
    ///
    /// model2vec calls this pooling `first`. For this model it retrieves better than the mean of the three states: on news stories (MRR@10
    /// 0.419 against 0.373), help articles (nDCG@10 0.694 against 0.659) and `beir:scifact` (nDCG@10 0.440 against 0.364).
    pub(crate) fn token_vectors(&self) -> anyhow::Result<Vectors> {
        let tokens: Vec<u32> = (0..u32::try_from(self.vocabulary_size())?).collect();
        let mut vectors = Vectors::with_capacity(tokens.len());
        for batch in tokens.chunks(BATCH) {
            let texts: Vec<u32> = batch
                .iter()
                .flat_map(|&token| [START, token, END])
                .collect();
            let texts = Tensor::from_vec(texts, (batch.len(), 3), &Device::Cpu)?;
            let states = self.model.forward(&texts, &texts.zeros_like()?, None)?;
            vectors.extend(states.i((.., 0))?.to_dtype(DType::F64)?.to_vec2::<f64>()?);
        }
        Ok(vectors)
    }
}
