//! Finds the stored runs that a command line names, and compares their configurations.

mod choice;
mod configuration;
mod predecessor;
mod report;
mod run;

pub(crate) use self::choice::{SkippedRun, StoredRuns, is_finished, is_latest};
pub(crate) use self::configuration::{Configuration, differences};
pub(crate) use self::predecessor::{is_of_kind, kind, predecessor};
pub(crate) use self::report::StoredReport;
pub(crate) use self::run::StoredRun;
