//! Finds the stored runs that a command line names, and compares their configurations.

mod choice;
mod configuration;
mod report;
mod run;

pub(crate) use self::choice::{SkippedRun, StoredRuns, is_finished, is_latest};
pub(crate) use self::configuration::{Configuration, differences};
pub(crate) use self::report::StoredReport;
pub(crate) use self::run::StoredRun;
