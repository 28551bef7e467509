//! The part of one text that attention scores at a time.

use std::ops::Range;

use rten_tensor::Matrix;

/// Some queries of one head and the keys they are scored against, by their positions in the text.
pub(in crate::encoder) struct Block<'text> {
    pub(in crate::encoder) head: usize,
    pub(in crate::encoder) queries: Range<usize>,
    pub(in crate::encoder) keys: Range<usize>,
    /// One row for each query.
    pub(in crate::encoder) query: Matrix<'text>,
    /// One column for each key.
    pub(in crate::encoder) key: Matrix<'text>,
    /// The segments of all tokens of the text.
    pub(in crate::encoder) segments: &'text [u32],
    /// The factor of every product of a query and a key.
    pub(in crate::encoder) scale: f32,
}
