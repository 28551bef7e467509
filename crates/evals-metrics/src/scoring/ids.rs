//! A map of document ids, which a worker empties and fills for each query.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Positions by document id.
pub(super) type Ids<'t> = HashMap<&'t str, u32, FoldedHash>;

/// Builds hashers that multiply and fold eight bytes at a time. Ids are short, and the standard hash takes longer for one than
/// all measures take for a document. The seed is random, so a file cannot be made for which all ids collide.
#[derive(Debug, Clone)]
pub(super) struct FoldedHash {
    seed: u64,
}

impl Default for FoldedHash {
    fn default() -> Self {
        Self {
            seed: RandomState::new().hash_one(0_u8),
        }
    }
}

impl BuildHasher for FoldedHash {
    type Hasher = Folding;

    fn build_hasher(&self) -> Folding {
        Folding { state: self.seed }
    }
}

#[derive(Debug)]
pub(super) struct Folding {
    state: u64,
}

impl Folding {
    fn fold(&mut self, word: u64) {
        // Its bits are spread evenly: it is the fractional part of the golden ratio.
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let product = u128::from(self.state ^ word) * u128::from(ODD);
        self.state = low(product) ^ low(product >> 64);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the hash uses the lower half of the product"
)]
fn low(product: u128) -> u64 {
    product as u64
}

impl Hasher for Folding {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.fold(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.fold(u64::from_le_bytes(last) ^ (bytes.len() as u64).rotate_left(56));
    }

    fn write_u8(&mut self, byte: u8) {
        // The end of a text, which its length has marked already.
        self.state ^= u64::from(byte);
    }

    fn finish(&self) -> u64 {
        self.state
    }
}
