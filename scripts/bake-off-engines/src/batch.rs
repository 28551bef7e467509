//! Texts on their way into an engine, and vectors on their way out.

use std::path::Path;

use anyhow::{Result, anyhow};
use tokenizers::{Encoding, Tokenizer, TruncationParams};

/// Tokens at which texts are cut, which is what the model's `sentence_bert_config.json` says.
const TOKENS: usize = 256;

/// Token ids and mask of some texts, row after row, padded to the longest.
pub(crate) struct Batch {
    pub(crate) texts: usize,
    pub(crate) length: usize,
    pub(crate) ids: Vec<u32>,
    pub(crate) mask: Vec<u32>,
}

/// A loaded model that runs batches.
pub(crate) trait Engine {
    /// The last hidden states of every token, padding included, row after row.
    fn states(&mut self, batch: &Batch) -> Result<Vec<f32>>;
}

impl Batch {
    fn new(encodings: &[&Encoding]) -> Self {
        let length = encodings.iter().map(|it| it.len()).max().unwrap_or(0);
        let padded = |row: &[u32]| {
            let mut row = row.to_vec();
            row.resize(length, 0);
            row
        };
        Self {
            texts: encodings.len(),
            length,
            ids: encodings
                .iter()
                .flat_map(|it| padded(it.get_ids()))
                .collect(),
            mask: encodings
                .iter()
                .flat_map(|it| padded(it.get_attention_mask()))
                .collect(),
        }
    }

    /// The mean of the states of each text's tokens, normalised to a length of 1.
    fn pool(&self, states: &[f32]) -> Vec<Vec<f32>> {
        let width = states.len() / self.mask.len();
        let texts = states
            .chunks(self.length * width)
            .zip(self.mask.chunks(self.length));
        texts
            .map(|(states, mask)| {
                let mut sum = vec![0.0; width];
                let tokens = states
                    .chunks(width)
                    .zip(mask)
                    .filter(|&(_, &mask)| mask == 1);
                for (state, _) in tokens {
                    sum.iter_mut()
                        .zip(state)
                        .for_each(|(sum, value)| *sum += value);
                }
                let norm = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
                sum.into_iter().map(|value| value / norm).collect()
            })
            .collect()
    }
}

/// The tokenizer, with truncation as the model has it instead of what `tokenizer.json` says.
pub(crate) struct Batches {
    tokenizer: Tokenizer,
    /// Texts that go through an engine at a time.
    size: usize,
}

impl Batches {
    pub(crate) fn open(model: &Path, size: usize) -> Result<Self> {
        let mut tokenizer =
            Tokenizer::from_file(model.join("tokenizer.json")).map_err(|error| anyhow!(error))?;
        let truncation = TruncationParams {
            max_length: TOKENS,
            ..TruncationParams::default()
        };
        tokenizer
            .with_padding(None)
            .with_truncation(Some(truncation))
            .map_err(|error| anyhow!(error))?;
        Ok(Self { tokenizer, size })
    }

    /// One vector for each text, in their order.
    pub(crate) fn embed(&self, engine: &mut dyn Engine, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let encodings = self
            .tokenizer
            .encode_batch(texts.to_vec(), true)
            .map_err(|error| anyhow!(error))?;
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&text| encodings[text].len());
        let mut vectors = vec![Vec::new(); texts.len()];
        for texts in order.chunks(self.size) {
            let encodings: Vec<&Encoding> = texts.iter().map(|&text| &encodings[text]).collect();
            let batch = Batch::new(&encodings);
            let states = engine.states(&batch)?;
            for (&text, vector) in texts.iter().zip(batch.pool(&states)) {
                vectors[text] = vector;
            }
        }
        Ok(vectors)
    }
}
