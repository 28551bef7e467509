//! How the documents of a run are matched.

use super::IdRule;

/// How documents are matched.
#[derive(Debug, Clone)]
pub struct Matching {
    /// The criterion.
    pub by: MatchBy,
    /// The rule for ids, if there is one.
    pub rule: Option<IdRule>,
    /// The least share of a passage's 8-word shingles that its document has to contain.
    pub threshold: f64,
}

/// The criterion that decides which document of the corpus a returned document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchBy {
    /// The id if the corpus has it, else the rule, else the text.
    Auto,
    /// The id alone.
    Id,
    /// The rule alone.
    Rule,
    /// The text alone.
    Text,
}

impl Matching {
    /// The default of [`threshold`](Self::threshold).
    ///
    /// More than half, so that most of a passage comes from its document; with room for a header or a summary that a system puts
    /// in front of its passages, and for single words that its parser reads differently, each of which costs 8 shingles.
    pub const THRESHOLD: f64 = 0.6;
}

impl Default for Matching {
    fn default() -> Self {
        Self {
            by: MatchBy::Auto,
            rule: None,
            threshold: Self::THRESHOLD,
        }
    }
}
