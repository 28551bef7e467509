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
mod label;
mod labelling;
mod run_judge;
mod sample;
mod shown;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod texts;

pub use self::agreement::{LEVEL, PairAgreement, PersonAgreement, pairs, people, verdict_counts};
pub use self::answers::RunAnswers;
pub use self::current::{Counted, CurrentLabels, Stale};
pub use self::export::Export;
pub use self::file::{LabelFile, StoredLabels};
pub use self::import::Import;
pub use self::judge::{WantedMeasure, evaluator};
pub use self::label::{Label, LabelVerdict, LongNote, checked_labeller, checked_note, user_name};
pub use self::labelling::{LabelVersion, Labelling, NewLabel, Queued, StoredLabel, Storing};
pub use self::sample::{LEAST_STRATIFIED, Method, Sample, USUAL_SAMPLE};
pub use self::shown::{ShownEstimate, WEIGHTED, caveats, estimates, estimates_of_people, left_out};
pub use self::table::digest;
pub use self::texts::{Answers, JudgedAnswer, ShownPassage};
