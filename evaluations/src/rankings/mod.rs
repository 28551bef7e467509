//! A finished retrieval run, and the files in its folder.

mod record;
mod timed;
mod trec_ids;

pub(crate) use self::record::{FinishedRankings, record};
pub(crate) use self::timed::TimedQuestions;
