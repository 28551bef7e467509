//! Measures of spans, for questions with evidence.

use std::num::NonZeroUsize;

use anyhow::Result;
use evals_data::Collection;
use evals_metrics::Depth;
use evals_rag::Question;
use evals_rag::retrieval::SpanMeasures;

use crate::downloads;

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
    let evidence = SpanMeasures::evidence(questions);
    if evidence.is_empty() {
        return Ok(None);
    }
    let wanted = evidence.keys().map(|id| (*id).to_owned()).collect();
    let documents = downloads::documents(collection.clone(), wanted).await?;
    let texts = documents.into_iter().map(|(id, it)| (id, it.text));
    let texts = texts.collect();
    Ok(Some(SpanMeasures::new(texts, &evidence, DEPTHS.to_vec())))
}
