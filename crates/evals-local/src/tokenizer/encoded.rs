//! What a tokenizer makes of a text: the input of an encoder.

/// The tokens of one text, or of a pair, as the model reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    pub(crate) ids: Vec<u32>,
    /// 0 for tokens of the first text, 1 for those of the second, or what else the tokenizer gives. All 0 for models that are
    /// not to be told.
    pub(crate) segments: Vec<u32>,
    /// How many tokens, from the first on, are attended to: all, unless the text was filled up.
    pub(crate) attended: usize,
    /// Whether there is more of the text than was read.
    pub(crate) is_cut: bool,
}

impl Encoded {
    /// Tokens that are all of one text and all attended to.
    pub(crate) fn of_one_text(ids: Vec<u32>) -> Self {
        Self {
            segments: vec![0; ids.len()],
            attended: ids.len(),
            is_cut: false,
            ids,
        }
    }
}
