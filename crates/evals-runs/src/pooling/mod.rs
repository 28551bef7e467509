//! Judgements of passages for any run: a model grades the top k of all runs, and a few judgements of people correct it.
//!
//! A [`Pool`] is what has to be judged so that the top of every run is. The judgements are in a [`JudgementFile`], to which lines are
//! only added, so a later run only adds, and each number carries the version of its judgements, which gives it again. A [`PoolReport`] evaluates
//! the runs. People judge whole questions in a [drawn order](evals_metrics::drawn_order), on a page or in a [spreadsheet](write_sheet).

mod grades;
mod judgement;
mod pool;
mod report;
mod sheet;
mod store;
#[cfg(test)]
mod tests;
mod text;

pub use self::grades::Grades;
pub use self::judgement::{Assessor, Judgement, written_grade};
pub use self::pool::{LONGEST_TEXT, Pool, PooledPair, PooledQuestion, PooledRun, pooled_documents};
pub use self::report::{OrderAgreement, PoolReport, PooledMeasure};
pub use self::sheet::{read_sheet, write_sheet};
pub use self::store::{JudgementFile, OpenJudgements};
