//! Labels that people give to the answers of a run, to learn how far its judge can be trusted.
//!
//! Labels are never part of a report. A label holds digests of what it is about, so that one about another answer or another
//! judge is not mistaken for a current one.

mod agreement;
mod answers;
mod current;
mod export;
mod file;
#[cfg(test)]
mod fuzz;
mod import;
mod judge;
mod judged_answer;
mod label;
mod labeller;
mod labelling;
mod printed;
mod run_judge;
mod sample;
mod shown;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod texts;

pub(crate) use self::agreement::{
    LEVEL, PairAgreement, PersonAgreement, pairs, people, verdict_counts,
};
pub(crate) use self::answers::RunAnswers;
pub(crate) use self::current::{Counted, CurrentLabels, Stale};
pub(crate) use self::export::Export;
pub(crate) use self::file::{LabelFile, StoredLabels};
pub(crate) use self::import::Import;
pub(crate) use self::judge::{WantedMeasure, evaluator};
pub(crate) use self::judged_answer::JudgedAnswer;
pub(crate) use self::label::{Label, LabelVerdict};
pub(crate) use self::labeller::{LongNote, checked_labeller, checked_note, user_name};
pub(crate) use self::labelling::{LabelVersion, Labelling, NewLabel, Queued, StoredLabel, Storing};
pub(crate) use self::printed::{confusion_table, statistics_table};
pub(crate) use self::sample::{LEAST_STRATIFIED, Method, Sample, USUAL_SAMPLE};
pub(crate) use self::shown::{
    ShownEstimate, WEIGHTED, caveats, estimates, estimates_of_people, left_out,
};
pub(crate) use self::table::digest;
pub(crate) use self::texts::{Answers, ShownPassage};
