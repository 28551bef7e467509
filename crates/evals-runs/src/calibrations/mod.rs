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

pub use self::by_people::{by_people, changes_by_people};
pub use self::calibration::{Calibration, Drawing};
pub use self::correction::{CORRECTION, Correction, OtherData};
pub use self::corrections::RunCorrections;
pub use self::decided::{DecidedLabels, WhoCounts};
pub use self::disagreement::Disagreement;
pub use self::given::GivenLabels;
pub use self::judged_run::JudgedRun;
pub use self::requirement::RequiredAgreement;
pub use self::store::CalibrationStore;
