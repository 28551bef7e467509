use thiserror::Error;

use crate::Embeddings;

/// Vectors that no cosine can be taken of, or too few of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum VectorError {
    /// Not one vector for each text.
    #[error("{vectors} vectors came back for {texts} texts")]
    Count { vectors: usize, texts: usize },
    /// Another length than the model is known by.
    #[error("text {text} has a vector of {length} dimensions instead of {expected}")]
    Dimension {
        text: usize,
        length: usize,
        expected: usize,
    },
    /// A component that is no number.
    #[error("text {text} has a vector with a component that is not a finite number")]
    NotFinite { text: usize },
    /// All components are zero.
    #[error("text {text} has a vector that is all zero")]
    Zero { text: usize },
}

/// Checks the vectors of a batch, of which the first belongs to text number `first`, and puts them into one matrix.
///
/// `dimension` is what they have to have; `None` takes the first one's.
pub(super) fn matrix(
    vectors: &[Vec<f32>],
    texts: usize,
    first: usize,
    dimension: Option<usize>,
) -> Result<Embeddings, VectorError> {
    if vectors.len() != texts {
        let vectors = vectors.len();
        return Err(VectorError::Count { vectors, texts });
    }
    let expected = dimension
        .or_else(|| vectors.first().map(Vec::len))
        .filter(|dimension| *dimension > 0)
        .ok_or(VectorError::Zero { text: first })?;
    for (row, vector) in vectors.iter().enumerate() {
        check(vector, first + row, expected)?;
    }
    let embeddings = Embeddings::new(expected, vectors.concat());
    Ok(embeddings.expect("every row was checked to have the dimension, which is not 0"))
}

fn check(vector: &[f32], text: usize, expected: usize) -> Result<(), VectorError> {
    let length = vector.len();
    if length != expected {
        return Err(VectorError::Dimension {
            text,
            length,
            expected,
        });
    }
    if vector.iter().any(|component| !component.is_finite()) {
        return Err(VectorError::NotFinite { text });
    }
    if vector.iter().all(|component| *component == 0.0) {
        return Err(VectorError::Zero { text });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_vectors_become_a_matrix() {
        let embeddings = matrix(&[vec![1.0, 0.0], vec![0.0, 2.0]], 2, 0, None).unwrap();
        assert_eq!(embeddings.values(), [1.0, 0.0, 0.0, 2.0]);
        assert_eq!(embeddings.dimension(), 2);
    }

    #[test]
    fn unsound_ones_are_named() {
        let message =
            |vectors: Vec<Vec<f32>>| matrix(&vectors, 2, 64, Some(2)).unwrap_err().to_string();
        let sound = || vec![1.0, 0.0];
        assert_eq!(message(vec![sound()]), "1 vectors came back for 2 texts");
        assert_eq!(
            message(vec![sound(), vec![1.0]]),
            "text 65 has a vector of 1 dimensions instead of 2"
        );
        assert_eq!(
            message(vec![sound(), vec![f32::NAN, 1.0]]),
            "text 65 has a vector with a component that is not a finite number"
        );
        assert_eq!(
            message(vec![vec![0.0, -0.0], sound()]),
            "text 64 has a vector that is all zero"
        );
    }

    #[test]
    fn a_vector_of_no_dimension_is_none() {
        assert_eq!(
            matrix(&[vec![]], 1, 0, None),
            Err(VectorError::Zero { text: 0 })
        );
    }
}
