//! Judgements of passages for any run: a model grades the top k of all runs, and a few judgements of people correct it.
//!
//! A [`Pool`] is what has to be judged so that the top of every run is. The judgements are in a [`JudgementFile`], to which lines are
//! only added, so a later run only adds, and no old number changes: each carries its [`PoolVersion`]. A [`PoolReport`] evaluates the runs.
//! People judge [whole questions](evals_metrics::Drawing) in a drawn order, in a [`Sheet`] of a spreadsheet.

mod grades;
mod judgement;
mod pool;
mod report;
mod sheet;
mod store;
#[cfg(test)]
mod tests;
mod text;

pub use self::grades::{Graders, Grades};
pub use self::judgement::{Assessor, Judgement};
pub use self::pool::{LONGEST_TEXT, Pool, PooledPair, PooledQuestion, PooledRun, pooled_documents};
pub use self::report::{
    DrawnQuestions, OrderAgreement, PoolReport, PoolSettings, PooledMeasure, RunResults,
};
pub use self::sheet::{GivenGrades, Sheet, SheetFile};
pub use self::store::{JudgementFile, PoolVersion, StoredJudgements};
