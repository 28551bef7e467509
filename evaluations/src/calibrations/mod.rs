//! Calibrations: how far a judge agrees with people, and pass rates of runs that are corrected by it.
//!
//! A calibration holds counts and digests, and no text of a question or an answer. It can be copied to another machine.

mod by_people;
mod calibration;
mod correction;
mod corrections;
mod decided;
mod disagreement;
mod given;
mod judge;
mod judged_run;
mod requirement;
mod store;
#[cfg(test)]
mod tests;

pub(crate) use self::by_people::{by_people, changes_by_people};
pub(crate) use self::calibration::{Calibration, Drawing};
pub(crate) use self::correction::{CORRECTION, Correction, OtherData};
pub(crate) use self::corrections::RunCorrections;
pub(crate) use self::decided::{DecidedLabels, WhoCounts};
pub(crate) use self::disagreement::Disagreement;
pub(crate) use self::given::GivenLabels;
pub(crate) use self::judged_run::JudgedRun;
pub(crate) use self::requirement::RequiredAgreement;
pub(crate) use self::store::CalibrationStore;
