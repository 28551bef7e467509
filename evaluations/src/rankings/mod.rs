//! A finished retrieval run, and the files in its folder.

mod finished;
mod record;
mod timed;
mod trec_ids;

pub(crate) use self::finished::FinishedRankings;
pub(crate) use self::record::record;
pub(crate) use self::timed::TimedQuestions;
