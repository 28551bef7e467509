//! The passages of a page: equal ones are stored once.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::{BLOCK, Passage};

/// Numbers passages in the order in which they are first seen, and collects them into blocks. It keeps a digest of each passage
/// and the texts of the unfinished block alone, so its memory grows by some 50 bytes for each passage.
#[derive(Debug, Default)]
pub(super) struct Passages {
    numbers: BTreeMap<[u8; 16], usize>,
    unwritten: Vec<Passage>,
}

impl Passages {
    /// The number of a passage that was seen before.
    pub(super) fn known(&self, passage: &Passage) -> Option<usize> {
        self.numbers.get(&digest(passage)).copied()
    }

    /// Adds a passage that is not known, and returns its number.
    pub(super) fn add(&mut self, passage: Passage) -> usize {
        let number = self.numbers.len();
        self.numbers.insert(digest(&passage), number);
        self.unwritten.push(passage);
        number
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether a block is full.
    pub(super) fn fill_a_block(&self) -> bool {
        self.unwritten.len() == BLOCK
    }

    /// The passages since the last block, with the number of their block; `None` if there are none.
    pub(super) fn take_block(&mut self) -> Option<(usize, Vec<Passage>)> {
        let number = self.len().checked_sub(1)? / BLOCK;
        let block = std::mem::take(&mut self.unwritten);
        (!block.is_empty()).then_some((number, block))
    }
}

fn digest(passage: &Passage) -> [u8; 16] {
    let mut digest = Sha256::new();
    for part in [&passage.document, &passage.title, &passage.text] {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    let digest = digest.finalize();
    std::array::from_fn(|index| digest[index])
}
