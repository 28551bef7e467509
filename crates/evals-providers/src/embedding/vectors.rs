//! Checks of the vectors that a server returns.

use thiserror::Error;

use evals_messages::quantity;
use evals_models::wording::beginning;
use evals_models::{Embeddings, NoDirection, check_direction};

/// Vectors that cannot be compared by cosine, or the wrong number of them.
#[derive(Clone, Debug, PartialEq, Error)]
pub(crate) enum VectorError {
    /// Not one vector for each text.
    #[error("the server returned {} for {}", quantity::of(*vectors, "vector"), quantity::of(*texts, "text"))]
    Count { vectors: usize, texts: usize },
    /// Not the dimension that the model has.
    #[error("text {text} has a vector of {length} dimensions instead of {expected}")]
    Dimension {
        text: usize,
        length: usize,
        expected: usize,
    },
    /// One that cannot be compared.
    #[error("text {text} cannot be compared: `{beginning}`")]
    Direction {
        text: usize,
        beginning: String,
        #[source]
        source: NoDirection,
    },
}

/// Checks the vectors of a batch of texts and puts them into one matrix. The first text of the batch is number `first`.
///
/// All vectors need the `dimension`, or for `None` the dimension of the first vector.
pub(crate) fn matrix(
    vectors: &[Vec<f32>],
    texts: &[String],
    first: usize,
    dimension: Option<usize>,
) -> Result<Embeddings, VectorError> {
    if vectors.len() != texts.len() {
        return Err(VectorError::Count {
            vectors: vectors.len(),
            texts: texts.len(),
        });
    }
    let expected = dimension.unwrap_or_else(|| vectors.first().map_or(0, Vec::len));
    for (row, (vector, text)) in vectors.iter().zip(texts).enumerate() {
        check(vector, text, first + row, expected)?;
    }
    let embeddings = Embeddings::new(expected.max(1), vectors.concat());
    Ok(embeddings.expect("every row was checked to have the dimension, which is not 0"))
}

fn check(vector: &[f32], text: &str, number: usize, expected: usize) -> Result<(), VectorError> {
    let length = vector.len();
    if length != expected {
        return Err(VectorError::Dimension {
            text: number,
            length,
            expected,
        });
    }
    check_direction(vector).map_err(|source| VectorError::Direction {
        text: number,
        beginning: beginning(text),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_vectors_become_a_matrix() {
        let embeddings = matrix(&[vec![1.0, 0.0], vec![0.0, 2.0]], &texts(), 0, None).unwrap();
        assert_eq!(embeddings.values(), [1.0, 0.0, 0.0, 2.0]);
        assert_eq!(embeddings.dimension(), 2);
    }

    fn texts() -> [String; 2] {
        ["the first".to_owned(), "the\nsecond".to_owned()]
    }

    #[test]
    fn unsound_ones_are_named() {
        let error = |vectors: Vec<Vec<f32>>| matrix(&vectors, &texts(), 64, Some(2)).unwrap_err();
        let message = |vectors| {
            let error = error(vectors);
            let source = std::error::Error::source(&error);
            let source = source
                .map(|source| format!(": {source}"))
                .unwrap_or_default();
            format!("{error}{source}")
        };
        let sound = || vec![1.0, 0.0];
        assert_eq!(
            message(vec![sound()]),
            "the server returned 1 vector for 2 texts"
        );
        assert_eq!(
            message(vec![sound(), vec![1.0]]),
            "text 65 has a vector of 1 dimensions instead of 2"
        );
        assert_eq!(
            message(vec![sound(), vec![f32::NAN, 1.0]]),
            "text 65 cannot be compared: `the second`: component 0 of its vector is `NaN`"
        );
        assert_eq!(
            message(vec![vec![0.0, -0.0], sound()]),
            "text 64 cannot be compared: `the first`: all 2 components of its vector are zero"
        );
        let large = vec![1e20, 1e20];
        assert!(message(vec![sound(), large]).starts_with(
            "text 65 cannot be compared: `the second`: its vector has the length 1.4e20"
        ));
    }

    #[test]
    fn a_vector_of_no_dimension_is_none() {
        let none = matrix(&[vec![]], &texts()[..1], 0, None);
        assert!(matches!(none, Err(VectorError::Direction { text: 0, .. })));
    }
}
