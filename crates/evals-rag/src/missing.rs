//! The parts of a reply that a system under test did not return.

use serde::{Deserialize, Serialize};

/// Something that a system under test did not return, or did not return in a usable form. The measures that need it are undefined, with
/// [`reason`](Self::reason) as the reason. Our own pipeline returns everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// It returned no list of documents. An empty list is not missing: nothing was found.
    Documents,
    /// None of the documents that it returned in the whole run is in the corpus. Its ids are then of a different kind and say nothing
    /// about its search.
    Matches,
    /// It returned no answer. An empty text is not missing.
    Answer,
    /// It returned no list of citations. An empty list is not missing: nothing was cited.
    Citations,
}

impl Missing {
    /// The reason for undefined measures.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Documents => "the target returned no documents",
            Self::Matches => "no document of the target is in the corpus",
            Self::Answer => "the target returned no answer",
            Self::Citations => "the target returned no citations",
        }
    }
}
