//! Why an embedding cannot be searched: the check that every vector passes before it is stored or searched with.

use evals_models::{NoDirection, check_direction};
use thiserror::Error;

/// Why a vector cannot be compared with others by cosine.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum EmbeddingDefect {
    /// Its components do not give a direction.
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

/// Checks a vector before it is stored or searched with.
pub(crate) fn check(vector: &[f32], dimension: usize) -> Result<(), EmbeddingDefect> {
    if vector.len() != dimension {
        return Err(EmbeddingDefect::Dimension {
            actual: vector.len(),
            expected: dimension,
        });
    }
    Ok(check_direction(vector)?)
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
