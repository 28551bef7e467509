//! The rankings of a retrieval run: their files, and which of their searches are timed.

mod record;
mod timed;
mod trec_ids;

pub use self::record::write;
pub use self::timed::TimedQuestions;
