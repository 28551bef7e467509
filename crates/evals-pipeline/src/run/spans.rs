//! Measures of spans, for questions with evidence.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use anyhow::{Context as _, Result};
use evals_data::Collection;
use evals_metrics::Depth;
use evals_rag::Question;
use evals_rag::retrieval::SpanMeasures;

/// How many of the best passages count, and how many words of them: about what an answer is written from.
const DEPTHS: [Depth; 2] = [
    Depth::Passages(NonZeroUsize::new(5).expect("it is not 0")),
    Depth::Tokens(NonZeroUsize::new(500).expect("it is not 0")),
];

/// The passages that a search returns if spans are measured: enough short ones for the words.
pub(super) const PASSAGES: usize = 50;

/// The measures of spans; `None` if no question has evidence.
pub(super) async fn measures(
    collection: &Collection,
    questions: &[Question],
) -> Result<Option<SpanMeasures>> {
    let wanted = SpanMeasures::documents(questions);
    if wanted.is_empty() {
        return Ok(None);
    }
    let wanted: BTreeSet<String> = wanted.into_iter().map(str::to_owned).collect();
    let reading = collection.clone();
    // On another thread, because this reads the whole corpus, and this thread has to notice an interruption.
    let read = tokio::task::spawn_blocking(move || {
        let mut texts = BTreeMap::new();
        for document in reading.documents()? {
            let document = document?;
            if wanted.contains(&document.uri) {
                texts.insert(document.uri, document.text);
            }
        }
        anyhow::Ok(texts)
    })
    .await;
    let texts = read.context("the task that reads the documents was cancelled")??;
    Ok(Some(SpanMeasures::new(texts, DEPTHS.to_vec())))
}
