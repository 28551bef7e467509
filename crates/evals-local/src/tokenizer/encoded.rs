//! A tokenised text: the input of an encoder.

/// The tokens of one text or of one pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    pub(crate) ids: Vec<u32>,
    /// The segment of each token, usually 0 for the first text and 1 for the second. All 0 for models without this input.
    pub(crate) segments: Vec<u32>,
    /// How many tokens, from the first on, are attended to: all, unless the text was padded.
    pub(crate) attended: usize,
    /// Whether the text was truncated.
    pub(crate) is_cut: bool,
}

impl Encoded {
    /// The tokens of one text, all of them attended to.
    pub(crate) fn of_one_text(ids: Vec<u32>) -> Self {
        Self {
            segments: vec![0; ids.len()],
            attended: ids.len(),
            is_cut: false,
            ids,
        }
    }
}
