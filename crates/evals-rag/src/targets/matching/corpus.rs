//! The corpus that documents are matched to.

use std::error::Error;
use std::fmt::Debug;

use crate::Document;

/// Why a corpus could not be read.
pub type CorpusError = Box<dyn Error + Send + Sync>;

/// A corpus whose documents can be read again, for their texts.
pub trait Corpus: Debug + Send + Sync {
    /// Hands over every document. It blocks, and it is called at most twice for each [`Matcher`](super::Matcher): to match texts, and
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
