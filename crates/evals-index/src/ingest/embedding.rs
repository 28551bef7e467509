//! Embedding the chunks of a portion.

use std::sync::Arc;

use evals_models::{Embedder, TextKind};

use super::chunk::Chunk;
use crate::embedding_defect;
use crate::embedding_defect::EmbeddingDefect;
use crate::error::IndexError;

/// Embeds the chunks that have text, `batch` at a time. Returns how many vectors came from a vector store. Chunks without text get no
/// vector, because nothing is similar to them.
pub(super) async fn embed(
    chunks: &mut [Chunk],
    embedder: &Arc<dyn Embedder>,
    batch: usize,
) -> Result<usize, IndexError> {
    let mut with_text: Vec<_> = chunks
        .iter_mut()
        .filter(|chunk| !chunk.text().trim().is_empty())
        .collect();
    let mut stored = 0;
    for batch in with_text.chunks_mut(batch) {
        stored += embed_batch(batch, embedder).await?;
    }
    Ok(stored)
}

async fn embed_batch(
    batch: &mut [&mut Chunk],
    embedder: &Arc<dyn Embedder>,
) -> Result<usize, IndexError> {
    let texts: Vec<_> = batch.iter().map(|chunk| chunk.text()).collect();
    let embeddings = embedder
        .embed(&texts, TextKind::Document)
        .await
        .map_err(|source| IndexError::Embed {
            document: batch[0].document.uri.clone(),
            source: Box::new(source),
        })?;
    if embeddings.len() != texts.len() {
        let defect = EmbeddingDefect::Count {
            actual: embeddings.len(),
            expected: texts.len(),
        };
        return Err(batch[0].defective(embedder.identity(), defect));
    }
    for (row, (chunk, vector)) in batch.iter_mut().zip(embeddings.rows()).enumerate() {
        embedding_defect::check(vector, embedder.dimension())
            .map_err(|defect| chunk.defective(embedder.identity(), defect))?;
        chunk.vector = Some(vector.into());
        chunk.cut = embeddings.is_cut(row);
    }
    Ok(embeddings.stored())
}
