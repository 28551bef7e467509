//! Tokenizing and computing texts on the threads of a model.

use std::error::Error;
use std::sync::Arc;

use thiserror::Error;

use super::batches::batches;
use super::threads::{Panicked, Timed, Workers};
use crate::encoder::Scratch;
use crate::tokenizer::Encoded;

/// A text has no tokens, so the model has nothing to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("text {index} of the batch has no tokens")]
pub(crate) struct NoTokens {
    index: usize,
}

/// How many texts a thread tokenizes at a time.
const TOKENIZED_TOGETHER: usize = 16;

impl Workers {
    /// The tokens of each text by `encode`. A text without tokens is an error.
    pub(crate) async fn tokenize<F>(
        &self,
        texts: &[&str],
        encode: F,
    ) -> Result<Timed<Vec<Encoded>>, Box<dyn Error + Send + Sync>>
    where
        F: Fn(&str) -> Result<Encoded, tokenizers::Error> + Clone + Send + 'static,
    {
        let tasks = texts.chunks(TOKENIZED_TOGETHER).map(|texts| {
            let encode = encode.clone();
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            move |_: &mut Scratch| {
                let encoded = texts.iter().map(|text| encode(text));
                encoded.collect::<Result<Vec<_>, _>>()
            }
        });
        let Timed { value, took } = self.run(tasks.collect()).await?;
        let chunks = value.into_iter().collect::<Result<Vec<_>, _>>()?;
        let value: Vec<Encoded> = chunks.into_iter().flatten().collect();
        match value.iter().position(|text| text.ids.is_empty()) {
            Some(index) => Err(NoTokens { index }.into()),
            None => Ok(Timed { value, took }),
        }
    }

    /// The result of `compute` for each text, in their order. It is called with batches of similar length.
    pub(crate) async fn compute<T, F>(
        &self,
        texts: Vec<Encoded>,
        compute: F,
    ) -> Result<Timed<Vec<T>>, Panicked>
    where
        T: Send + 'static,
        F: Fn(&[&Encoded], &mut Scratch) -> Vec<T> + Clone + Send + 'static,
    {
        let lengths: Vec<usize> = texts.iter().map(|text| text.ids.len()).collect();
        let batches = batches(&lengths, self.threads());
        let texts = Arc::new(texts);
        let tasks = batches.iter().map(|batch| {
            let (compute, texts, batch) = (compute.clone(), Arc::clone(&texts), batch.clone());
            move |scratch: &mut Scratch| {
                let texts: Vec<&Encoded> = batch.iter().map(|index| &texts[*index]).collect();
                compute(&texts, scratch)
            }
        });
        let Timed { value, took } = self.run(tasks.collect()).await?;
        let indices = batches.into_iter().flatten();
        let mut found: Vec<(usize, T)> = indices.zip(value.into_iter().flatten()).collect();
        found.sort_by_key(|(index, _)| *index);
        let value = found.into_iter().map(|(_, result)| result).collect();
        Ok(Timed { value, took })
    }
}
