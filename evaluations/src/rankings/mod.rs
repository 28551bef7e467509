//! The rankings of a retrieval run: their files, and which of their searches are timed.

mod record;
mod timed;
mod trec_ids;

pub(crate) use self::record::write;
pub(crate) use self::timed::TimedQuestions;
