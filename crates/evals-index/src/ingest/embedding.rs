use std::sync::Arc;

use evals_models::{Embedder, TextKind};
use thiserror::Error;

use super::chunk::Chunk;
use crate::IndexError;

/// Why a vector cannot be compared with others by cosine.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum EmbeddingDefect {
    /// A component is not a number, or infinite.
    #[error("component {component} is `{value}`")]
    NotFinite {
        /// Number of the component, from 0.
        component: usize,
        /// Its value.
        value: f32,
    },
    /// All components are zero: the vector has no direction.
    #[error("all {dimension} components are zero")]
    Zero {
        /// Length of the vector.
        dimension: usize,
    },
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
    if let Some(component) = vector.iter().position(|value| !value.is_finite()) {
        return Err(EmbeddingDefect::NotFinite {
            component,
            value: vector[component],
        });
    }
    if vector.iter().all(|value| *value == 0.0) {
        return Err(EmbeddingDefect::Zero { dimension });
    }
    Ok(())
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
        return Err(batch[0].defective(EmbeddingDefect::Count {
            actual: embeddings.len(),
            expected: texts.len(),
        }));
    }
    for (chunk, vector) in batch.iter_mut().zip(embeddings.rows()) {
        check(vector, embedder.dimension()).map_err(|defect| chunk.defective(defect))?;
        chunk.vector = Some(vector.into());
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
        assert_eq!(message(&[0.0, 0.0]), "all 2 components are zero");
        assert_eq!(message(&[0.0, f32::NAN]), "component 1 is `NaN`");
        assert_eq!(message(&[f32::INFINITY, 1.0]), "component 0 is `inf`");
        assert_eq!(message(&[1.0]), "it has 1 components instead of 2");
    }
}
