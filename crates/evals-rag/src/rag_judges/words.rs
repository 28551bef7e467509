//! The words that a judge may choose from.

/// The words that a judge may choose from for each item of a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// The verdict that raises the score.
    pub(super) holds: &'static str,
    /// The others, the gravest first: of several judges that disagree, the gravest of the most frequent ones is shown.
    pub(super) others: &'static [&'static str],
    /// Whether a verdict names the passage that decides.
    pub(super) names_passage: bool,
}

impl Words {
    /// Whether passages support a claim or a sentence.
    pub(super) const SUPPORT: Self = Self {
        holds: "supported",
        others: &["contradicted", "not found"],
        names_passage: true,
    };
    /// Whether a statement helps to answer.
    pub(super) const RELEVANCE: Self = Self {
        holds: "relevant",
        others: &["irrelevant"],
        names_passage: false,
    };
    /// Whether a passage helps to answer.
    pub(super) const USEFULNESS: Self = Self {
        holds: "useful",
        others: &["not useful"],
        names_passage: false,
    };
    /// Whether an answer covers a point.
    pub(super) const COVERAGE: Self = Self {
        holds: "covered",
        others: &["missing"],
        names_passage: false,
    };

    /// All words, the one that holds first.
    pub(super) fn all(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.holds).chain(self.others.iter().copied())
    }

    /// The word that a judge wrote. Case, spaces around it and `_` or `-` in place of a space make no difference.
    pub(super) fn read(&self, written: &str) -> Option<&'static str> {
        let plain = written.trim().to_lowercase().replace(['_', '-'], " ");
        self.all().find(|word| *word == plain)
    }
}
