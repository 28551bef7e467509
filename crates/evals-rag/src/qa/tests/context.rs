//! Tests of the context that the answerer gets.

use super::super::*;
use super::{passages, question};
use crate::Passage;
use crate::answering::{ChatAnswerer, Refusals};
use crate::tests::fakes::{FoundPassages, Scripted, passage, said};
use evals::Experiment;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Adds one chunk on either side of every passage.
#[derive(Debug)]
struct Around;

#[async_trait::async_trait]
impl Neighbours for Around {
    async fn chunks(
        &self,
        document: &str,
        ordinals: std::ops::RangeInclusive<u32>,
    ) -> Result<Vec<Passage>, crate::SearchError> {
        let chunk = |ordinal| Passage {
            ordinal,
            ..passage(document, &format!("chunk {ordinal}"))
        };
        Ok(ordinals.map(chunk).collect())
    }
}

/// Every letter is a token.
#[derive(Debug)]
struct ByLetter;

impl evals_models::Tokenizer for ByLetter {
    fn identity(&self) -> &'static str {
        "by letter"
    }

    fn boundaries(&self, text: &str) -> Vec<std::ops::Range<usize>> {
        let letters = text.char_indices();
        letters
            .map(|(at, letter)| at..at + letter.len_utf8())
            .collect()
    }
}

#[tokio::test]
async fn passages_are_widened_and_then_cut() {
    let model = Scripted::new([said("Rome [1]")]);
    let answerer = ChatAnswerer::new(Arc::clone(&model) as _, Refusals::default());
    let settings = Settings {
        limit: NonZeroUsize::new(2).unwrap(),
        expansion: Some(Expansion {
            neighbours: Arc::new(Around),
            radius: std::num::NonZeroU32::MIN,
        }),
        budget: Some(Budget {
            tokens: NonZeroUsize::new(20).unwrap(),
            tokenizer: Arc::new(ByLetter),
        }),
        in_batches: false,
        queries: crate::Queries::default(),
    };
    let task = task(
        Arc::new(FoundPassages(passages())),
        Arc::new(answerer),
        settings,
    );
    let dataset = dataset("demo", [question("q", true)]).unwrap();
    let report = Experiment::new(dataset, task).run().await;
    let case = &report.cases[0];
    let answer = case.result.output().unwrap();
    // 5 letters, a line break and 7 letters; with the second passage it would be 27.
    assert_eq!(answer.passages.len(), 1);
    assert_eq!(answer.passages[0].text, "Rome.\nchunk 1");
    assert_eq!(case.metrics["context tokens"].to_bits(), 13_f64.to_bits());
    assert_eq!(case.metrics["context passages"].to_bits(), 1_f64.to_bits());
    assert!(case.attributes.is_empty());
    let stages = case.timings.iter().map(|timing| timing.stage.as_str());
    assert_eq!(
        stages.collect::<Vec<_>>(),
        ["bm25", "neighbours", "generate"]
    );
}

#[tokio::test]
async fn a_case_records_that_its_only_passage_was_cut() {
    let model = Scripted::new([said("Rome [1]")]);
    let answerer = ChatAnswerer::new(Arc::clone(&model) as _, Refusals::default());
    let settings = Settings {
        budget: Some(Budget {
            tokens: NonZeroUsize::new(4).unwrap(),
            tokenizer: Arc::new(ByLetter),
        }),
        ..Settings::new(NonZeroUsize::new(2).unwrap())
    };
    let task = task(
        Arc::new(FoundPassages(passages())),
        Arc::new(answerer),
        settings,
    );
    let dataset = dataset("demo", [question("q", true)]).unwrap();
    let report = Experiment::new(dataset, task).run().await;
    let case = &report.cases[0];
    assert_eq!(case.result.output().unwrap().passages[0].text, "Rome");
    assert_eq!(case.metrics["context tokens"].to_bits(), 4_f64.to_bits());
    assert_eq!(case.attributes["context cut from"], 5);
}
