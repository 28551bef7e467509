//! Tokenizing and computing texts on the threads of a model.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use evals_models::wording::truncation_note;
use evals_models::{Failure, NoDirection};
use thiserror::Error;

use super::{Timed, Workers};
use crate::encoder::Scratch;
use crate::tokenizer::Encoded;

/// Why a call of a model failed.
pub(crate) type Failed = Box<dyn Error + Send + Sync>;

/// A text for which the model has no result. Other texts may have one.
#[derive(Clone, Debug, PartialEq, Error)]
pub(crate) enum TextFault {
    /// The model has nothing to read.
    #[error("text {index} of the batch has no tokens")]
    NoTokens { index: usize },
    /// Its vector cannot be compared with others.
    #[error("text {index} of the batch cannot be compared: `{beginning}`")]
    Vector {
        index: usize,
        beginning: String,
        #[source]
        source: NoDirection,
    },
    /// Its score cannot be compared with others.
    #[error("the score of text {index} is not a finite number")]
    Score { index: usize },
}

impl TextFault {
    /// What a failure means: only those of texts depend on the input.
    pub(crate) fn failure(failed: &Failed) -> Failure {
        if failed.is::<Self>() {
            Failure::Content
        } else {
            Failure::Terminal
        }
    }
}

/// The results for some texts, in their order.
#[derive(Debug)]
pub(crate) struct Computed<T> {
    pub(crate) results: Timed<Vec<T>>,
    /// Whether each text was truncated.
    pub(crate) cut: Vec<bool>,
}

/// How many texts a thread tokenizes at a time.
const TOKENIZED_TOGETHER: usize = 16;

impl Workers {
    /// How many texts were truncated so far. `unit` is what a text is called.
    pub(crate) fn notes(&self, unit: &str) -> Vec<String> {
        let note = truncation_note(self.cut.load(Ordering::Relaxed), unit);
        note.into_iter().collect()
    }

    /// The result of `compute` for each text, whose tokens are those of `encode`. It is called with batches of similar length. A
    /// text without tokens is an error.
    pub(crate) async fn compute<T, E, F>(
        &self,
        texts: &[&str],
        encode: E,
        compute: F,
    ) -> Result<Computed<T>, Failed>
    where
        T: Send + 'static,
        E: Fn(&str) -> Result<Encoded, tokenizers::Error> + Clone + Send + 'static,
        F: Fn(&[&Encoded], &mut Scratch) -> Vec<T> + Clone + Send + 'static,
    {
        let Timed { value: texts, took } = self.tokenize(texts, encode).await?;
        if let Some(index) = texts.iter().position(|text| text.ids.is_empty()) {
            return Err(TextFault::NoTokens { index }.into());
        }
        let cut: Vec<bool> = texts.iter().map(|text| text.is_cut).collect();
        let count = cut.iter().filter(|is_cut| **is_cut).count();
        self.cut.fetch_add(count as u64, Ordering::Relaxed);
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
        let computed = self.run(tasks.collect()).await?.after(took);
        let results = computed.value.into_iter().flatten();
        let mut found: Vec<(usize, T)> = batches.into_iter().flatten().zip(results).collect();
        found.sort_by_key(|(index, _)| *index);
        Ok(Computed {
            results: Timed {
                value: found.into_iter().map(|(_, result)| result).collect(),
                took: computed.took,
            },
            cut,
        })
    }

    async fn tokenize<E>(&self, texts: &[&str], encode: E) -> Result<Timed<Vec<Encoded>>, Failed>
    where
        E: Fn(&str) -> Result<Encoded, tokenizers::Error> + Clone + Send + 'static,
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
        Ok(Timed {
            value: chunks.concat(),
            took,
        })
    }
}

/// Most tokens of a batch, unless a single text has more. They are enough rows for fast matrix products, and few enough that the
/// results between layers stay in the cache of the processor.
const TOKENS: usize = 512;

/// Groups texts of similar length into batches, the longest first, so that no thread is still busy with a long one at the end.
///
/// Each batch is a list of indices into `lengths`. Batches are smaller if there would be fewer of them than `threads`.
fn batches(lengths: &[usize], threads: usize) -> Vec<Vec<usize>> {
    let total: usize = lengths.iter().sum();
    let room = TOKENS.min(total.div_ceil(threads.max(1)));
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(lengths[*index]));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut left = 0;
    for index in order {
        match batches.last_mut() {
            Some(batch) if lengths[index] <= left => {
                batch.push(index);
                left -= lengths[index];
            }
            _ => {
                batches.push(vec![index]);
                left = room.saturating_sub(lengths[index]);
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_come_first_and_batches_are_full() {
        assert_eq!(
            batches(&[256, 3, 256, 300], 1),
            [vec![3], vec![0, 2], vec![1]]
        );
    }

    #[test]
    fn few_texts_are_spread_over_the_threads() {
        assert_eq!(batches(&[8, 8, 8, 8], 2), [vec![0, 1], vec![2, 3]]);
        assert_eq!(batches(&[8], 2), [vec![0]]);
        assert_eq!(batches(&[], 2), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn a_text_longer_than_a_batch_is_alone() {
        assert_eq!(batches(&[8192, 1], 1), [vec![0], vec![1]]);
    }
}
