//! The embedding of a question.

use std::time::Instant;

use evals_models::TextKind;

use super::Cache;
use super::cache::{Cached, Embedded};
use crate::embedding_defect;
use crate::error::IndexError;
use crate::table::contents::Contents;

/// The question's embedding, from the cache or the model; `None` for a question without text, to which nothing is similar.
pub(super) async fn embed(
    contents: &Contents,
    cache: &Cache,
    question: &str,
) -> Result<Option<Cached<Embedded>>, IndexError> {
    if question.trim().is_empty() {
        return Ok(None);
    }
    let compute = compute(contents, question);
    let embedded = cache.embeddings.get(question.to_owned(), compute).await?;
    Ok(Some(embedded))
}

async fn compute(contents: &Contents, question: &str) -> Result<Embedded, IndexError> {
    let failed = |source| IndexError::Question {
        question: question.to_owned(),
        source,
    };
    let embedder = contents.embedder()?;
    let started = Instant::now();
    let embeddings = embedder
        .embed(&[question], TextKind::Query)
        .await
        .map_err(|source| failed(source.into()))?;
    let duration = started.elapsed();
    let vector = embeddings.row(0).unwrap_or_default().to_vec();
    embedding_defect::check(&vector, embedder.dimension())
        .map_err(|source| failed(source.into()))?;
    Ok(Embedded {
        vector,
        duration: embeddings.took().unwrap_or(duration),
        stored: embeddings.is_cached(),
    })
}
