//! Short digests that stand for ids and documents.

use sha2::{Digest, Sha256};

/// The first 128 bits of the SHA-256 of several texts, each preceded by its length so that the boundaries between texts matter.
///
/// A fingerprint replaces an id or a document whose whole text would take memory that grows with the corpus. The chance that two of a
/// billion collide is below 10^-20.
pub(super) fn fingerprint<'t>(texts: impl IntoIterator<Item = &'t str>) -> u128 {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    let digest = hasher.finalize();
    u128::from_le_bytes(digest[..16].try_into().expect("a SHA-256 has 32 bytes"))
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    #[test]
    fn boundaries_between_texts_matter() {
        assert_ne!(fingerprint(["ab", "c"]), fingerprint(["a", "bc"]));
        assert_eq!(fingerprint(["ab", "c"]), fingerprint(["ab", "c"]));
    }
}
