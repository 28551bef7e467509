//! Mutations of an input.

use proptest::prelude::*;

/// The most repetitions of a piece. Many are needed to reach deep nesting.
const MOST_REPEATS: u32 = 4_096;
/// The most bytes of an input.
const MOST_BYTES: usize = 1 << 20;

/// One change. Positions are fractions of the input's length, so a change fits every input.
#[derive(Debug, Clone)]
pub(crate) enum Mutation {
    /// Flips bits of one byte.
    Flip { at: u16, bits: u8 },
    /// Inserts bytes.
    Insert { at: u16, bytes: Vec<u8> },
    /// Inserts a token of the dictionary.
    Token { at: u16, token: u16 },
    /// Removes a piece.
    Remove { at: u16, length: u16 },
    /// Cuts the input off.
    Truncate { at: u16 },
    /// Repeats a piece many times.
    Repeat { at: u16, length: u8, times: u32 },
    /// Copies a piece to another place.
    Copy { from: u16, to: u16, length: u16 },
    /// Inserts a piece of another input.
    Splice {
        at: u16,
        other: u16,
        from: u16,
        length: u16,
    },
}

/// Any changes; those that keep most of the input are the most likely.
pub(crate) fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    let mutation = prop_oneof![
        3 => any::<(u16, u8)>().prop_map(|(at, bits)| Mutation::Flip { at, bits }),
        3 => (any::<u16>(), prop::collection::vec(any::<u8>(), 1..9))
            .prop_map(|(at, bytes)| Mutation::Insert { at, bytes }),
        6 => any::<(u16, u16)>().prop_map(|(at, token)| Mutation::Token { at, token }),
        3 => (any::<u16>(), 1..64_u16).prop_map(|(at, length)| Mutation::Remove { at, length }),
        1 => any::<u16>().prop_map(|at| Mutation::Truncate { at }),
        2 => (any::<u16>(), 1..24_u8, repeats())
            .prop_map(|(at, length, times)| Mutation::Repeat { at, length, times }),
        2 => (any::<u16>(), any::<u16>(), 1..256_u16)
            .prop_map(|(from, to, length)| Mutation::Copy { from, to, length }),
        2 => (any::<u16>(), any::<u16>(), any::<u16>(), 1..256_u16).prop_map(
            |(at, other, from, length)| Mutation::Splice { at, other, from, length }
        ),
    ];
    prop::collection::vec(mutation, 0..8)
}

/// The number of repetitions: usually few, because a long input takes the time of many short ones.
fn repeats() -> impl Strategy<Value = u32> {
    prop_oneof![3 => 2..64_u32, 1 => 64..MOST_REPEATS]
}

/// The inputs and tokens that mutations are made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Material<'a> {
    pub(crate) inputs: &'a [Vec<u8>],
    pub(crate) dictionary: &'a [Vec<u8>],
}

impl Material<'_> {
    /// Applies the mutations to input number `seed`, and cuts the result at a mebibyte.
    pub(crate) fn mutated(&self, seed: usize, mutations: &[Mutation]) -> Vec<u8> {
        let mut bytes = self.inputs[seed % self.inputs.len()].clone();
        for mutation in mutations {
            self.apply(mutation, &mut bytes);
            bytes.truncate(MOST_BYTES);
        }
        bytes
    }

    fn apply(&self, mutation: &Mutation, bytes: &mut Vec<u8>) {
        match mutation {
            Mutation::Flip { at, bits } => {
                let at = place(*at, bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= bits;
                }
            }
            Mutation::Insert { at, bytes: piece } => insert(bytes, *at, piece),
            Mutation::Token { at, token } => {
                if !self.dictionary.is_empty() {
                    let token = usize::from(*token) % self.dictionary.len();
                    insert(bytes, *at, &self.dictionary[token]);
                }
            }
            Mutation::Remove { at, length } => {
                let at = place(*at, bytes.len());
                let end = (at + usize::from(*length)).min(bytes.len());
                bytes.drain(at..end);
            }
            Mutation::Truncate { at } => bytes.truncate(place(*at, bytes.len())),
            Mutation::Repeat { at, length, times } => {
                let piece = piece(bytes, *at, usize::from(*length)).to_vec();
                let times = usize::try_from(*times).expect("it is at most a few thousand");
                insert(bytes, *at, &piece.repeat(times));
            }
            Mutation::Copy { from, to, length } => {
                let piece = piece(bytes, *from, usize::from(*length)).to_vec();
                insert(bytes, *to, &piece);
            }
            Mutation::Splice {
                at,
                other,
                from,
                length,
            } => {
                let other = &self.inputs[usize::from(*other) % self.inputs.len()];
                insert(bytes, *at, piece(other, *from, usize::from(*length)));
            }
        }
    }
}

/// Converts a fraction of 2^16 into a position of at most `length`.
fn place(at: u16, length: usize) -> usize {
    usize::from(at) * (length + 1) / (usize::from(u16::MAX) + 1)
}

fn piece(bytes: &[u8], at: u16, length: usize) -> &[u8] {
    let at = place(at, bytes.len());
    &bytes[at..(at + length).min(bytes.len())]
}

fn insert(bytes: &mut Vec<u8>, at: u16, piece: &[u8]) {
    let at = place(at, bytes.len());
    bytes.splice(at..at, piece.iter().copied());
}
