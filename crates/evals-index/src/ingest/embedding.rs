use std::sync::Arc;

use evals_models::{Embedder, NoDirection, TextKind, check_direction};
use thiserror::Error;

use super::chunk::Chunk;
use crate::IndexError;

/// Why a vector cannot be compared with others by cosine.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum EmbeddingDefect {
    /// Its components make no direction.
    #[error(transparent)]
    Direction(#[from] NoDirection),
    /// The vector has another length than the model states.
    #[error("it has {actual} components instead of {expected}")]
    Dimension {
        /// Length of the vector.
        actual: usize,
        /// Length that the model states.
        expected: usize,
    },
    /// The model did not return one vector for each text.
    #[error("there are {actual} vectors for {expected} texts")]
    Count {
        /// Vectors returned.
        actual: usize,
        /// Texts given.
        expected: usize,
    },
}

/// Checks a vector that is about to be stored or searched with.
pub(crate) fn check(vector: &[f32], dimension: usize) -> Result<(), EmbeddingDefect> {
    if vector.len() != dimension {
        return Err(EmbeddingDefect::Dimension {
            actual: vector.len(),
            expected: dimension,
        });
    }
    Ok(check_direction(vector)?)
}

/// Embeds the chunks that have text, `batch` at a time, and says how many vectors were stored before. Chunks without text get no
/// vector: they have nothing to compare.
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
        check(vector, embedder.dimension())
            .map_err(|defect| chunk.defective(embedder.identity(), defect))?;
        chunk.vector = Some(vector.into());
        chunk.cut = embeddings.is_cut(row);
    }
    Ok(embeddings.stored())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_need_a_direction() {
        assert_eq!(check(&[0.0, 0.5], 2), Ok(()));
        let message = |vector: &[f32]| check(vector, 2).unwrap_err().to_string();
        let zero = "all 2 components of its vector are zero";
        assert_eq!(message(&[0.0, 0.0]), zero);
        let length = "its vector has the length 1.0e20, whose square is beyond 32-bit numbers";
        assert_eq!(message(&[1e20, 0.0]), length);
        assert_eq!(message(&[1.0]), "it has 1 components instead of 2");
    }
}
