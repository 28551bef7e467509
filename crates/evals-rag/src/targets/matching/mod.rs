//! Matches the documents that a system returns to those of the corpus: by id, by a rule for ids, or by text.

mod counts;
mod id_check;
mod matcher;
mod normalized;
mod returned;
mod rule;
mod settings;
#[cfg(test)]
mod tests;
mod text_index;

use std::error::Error;
use std::fmt::Debug;

use crate::Document;

pub use counts::{MatchCounts, MatchRecord, ScoreUse};
pub use id_check::IdCheck;
pub use matcher::{How, MatchError, Matched, Matcher};
pub use returned::{Returned, Spread};
pub use rule::{IdRule, IdRuleError};
pub use settings::{MatchBy, Matching};

/// Why a corpus could not be read.
pub type CorpusError = Box<dyn Error + Send + Sync>;

/// A corpus whose documents can be read again, for their texts.
pub trait Corpus: Debug + Send + Sync {
    /// Hands over every document. It blocks, and it is called at most twice for each [`Matcher`]: to match texts, and
    /// to compare those of documents that were matched by id.
    ///
    /// # Errors
    ///
    /// A document cannot be read, or `each` returned this error.
    fn read(
        &self,
        each: &mut dyn FnMut(Document) -> Result<(), CorpusError>,
    ) -> Result<(), CorpusError>;
}
