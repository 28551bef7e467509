//! Nonces: words that a prompt can use as delimiters, because no text in it contains them.

use sha2::{Digest, Sha256};

/// Hexadecimal digits of a nonce: 64 bits.
const DIGITS: usize = 16;

/// Returns a word for delimiters and replies that none of the `readings` of `texts` contains.
///
/// The nonce comes from the SHA-256 of the texts. The same texts therefore give the same prompt, and a stored reply is found
/// again, but a text cannot easily contain a nonce that depends on the text itself. If one does, by chance or by search, a
/// counter in the hash changes the nonce until it fits.
pub(crate) fn nonce(texts: &[&str], readings: &[String]) -> String {
    let mut content = Sha256::new();
    for text in texts {
        // The length comes before each text, so moving a letter from one text to the next changes the hash.
        content.update(text.len().to_le_bytes());
        content.update(text.as_bytes());
    }
    let candidates = (0_u64..).map(|counter| {
        let digest = content
            .clone()
            .chain_update(counter.to_le_bytes())
            .finalize();
        let mut nonce = hex::encode(digest);
        nonce.truncate(DIGITS);
        nonce
    });
    first_unused(candidates, readings)
}

fn first_unused(mut candidates: impl Iterator<Item = String>, readings: &[String]) -> String {
    candidates
        .find(|nonce| !readings.iter().any(|text| text.contains(nonce.as_str())))
        .expect("a text of finite length does not contain all nonces")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_equal_nonces_and_different_texts_different_ones() {
        let of = |texts: &[&str]| nonce(texts, &[]);
        assert_eq!(of(&["why?", "so"]), of(&["why?", "so"]));
        assert_ne!(of(&["why?", "so"]), of(&["why?s", "o"]));
        assert_ne!(of(&["why?", "so"]), of(&["so", "why?"]));
        assert_eq!(of(&["why?"]).len(), 16);
    }

    #[test]
    fn a_nonce_that_occurs_in_the_text_is_not_used() {
        let candidates = ["aa", "bb", "cc"].map(str::to_owned).into_iter();
        let readings = ["xaax", "bb"].map(str::to_owned);
        assert_eq!(first_unused(candidates, &readings), "cc");
    }
}
