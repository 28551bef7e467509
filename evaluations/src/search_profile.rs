//! Search profiles as the command line and settings name them.

use std::fmt;

use evals_index::Profile;

/// The end of the name of a profile whose results are reranked.
pub(crate) const RERANK: &str = "+rerank";

/// A search of the index, and whether its results are reranked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SearchProfile {
    pub(crate) base: Profile,
    pub(crate) rerank: bool,
}

impl SearchProfile {
    /// The profile as it is with its results reranked.
    pub(crate) fn reranked(self) -> Self {
        Self {
            rerank: true,
            ..self
        }
    }
}

impl From<Profile> for SearchProfile {
    fn from(base: Profile) -> Self {
        Self {
            base,
            rerank: false,
        }
    }
}

impl fmt::Display for SearchProfile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = if self.rerank { RERANK } else { "" };
        write!(formatter, "{}{suffix}", self.base)
    }
}
