//! The vector of a text from those of its tokens.

use super::asset::Asset;
use crate::wordpiece::WordPiece;

/// Writes the unit vector of `text` into `vector`: the sum of the vectors of its tokens, normalised to length 1.
///
/// The weight of a token is part of its vector. Unknown tokens are skipped. If no token is left, or if the sum is zero or overflows,
/// the result is the unit vector of the last axis. Known texts vary least along it, so its cosine with all of them is near 0.
pub(super) fn embed(asset: &Asset, tokenizer: &WordPiece, text: &str, vector: &mut [f32]) {
    vector.fill(0.0);
    let unknown = tokenizer.unknown();
    let dimension = vector.len();
    tokenizer.for_each_token(text, |token| {
        if token != unknown {
            add(
                vector,
                asset.row(token, dimension),
                asset.scales[token as usize],
            );
        }
    });
    normalize(vector);
}

/// Adds `scale * row`. A plain loop over two slices compiles to vector instructions.
fn add(vector: &mut [f32], row: &[u8], scale: f32) {
    for (value, &quantized) in vector.iter_mut().zip(row) {
        *value += f32::from(quantized.cast_signed()) * scale;
    }
}

fn normalize(vector: &mut [f32]) {
    let length = vector
        .iter()
        .map(|&value| f64::from(value).powi(2))
        .sum::<f64>()
        .sqrt();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the vectors that it scales are f32 too"
    )]
    let factor = (1.0 / length) as f32;
    // It is not normal if the length is 0, or if the sum overflowed.
    if factor.is_normal() {
        for value in vector {
            *value *= factor;
        }
    } else {
        vector.fill(0.0);
        if let Some(last) = vector.last_mut() {
            *last = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asset() -> (Asset, WordPiece) {
        let vocabulary = "[UNK]\nnorth\neast\nsouth";
        let rows = &[9, 9, 1, 0, 0, 2, 0xFF, 0];
        let asset = Asset {
            dimension: 2,
            digest: String::new(),
            vocabulary,
            scales: vec![1.0, 3.0, 2.0, 3.0],
            rows,
        };
        (asset, WordPiece::new(vocabulary).unwrap())
    }

    fn embedded(text: &str) -> Vec<f32> {
        let (asset, tokenizer) = asset();
        let mut vector = vec![7.0; 2];
        embed(&asset, &tokenizer, text, &mut vector);
        vector
    }

    #[test]
    fn tokens_add_up_by_their_weight() {
        // 3 * (1, 0) + 2 * (0, 2) = (3, 4), of length 5.
        assert_eq!(embedded("north east"), [0.6, 0.8]);
        assert_eq!(
            embedded("North, East"),
            [0.6, 0.8],
            "unknown tokens do not count"
        );
        assert_eq!(embedded("east"), [0.0, 1.0]);
    }

    #[test]
    fn a_text_without_known_tokens_has_the_last_axis() {
        for text in ["", " \n", "up down", "north south"] {
            assert_eq!(embedded(text), [0.0, 1.0], "{text:?}");
        }
    }

    #[test]
    fn weights_that_overflow_do_not_give_infinite_vectors() {
        for mut vector in [
            vec![f32::INFINITY, 1.0],
            vec![f32::NAN, f32::INFINITY],
            vec![1e-45, 0.0],
        ] {
            normalize(&mut vector);
            assert_eq!(vector, [0.0, 1.0]);
        }
    }
}
