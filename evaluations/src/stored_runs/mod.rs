//! Finds the stored runs that a command line names, and their reports, trends and predecessors.

mod choice;
mod command;
mod compared;
mod headline;
mod history;
mod made_by;
mod measuring;
mod names;
mod predecessor;
mod report;
mod run;
mod snapshot;
mod stored_trend;
mod trend;

pub(crate) use self::choice::{StoredRuns, is_finished, is_latest, is_unknown};
pub(crate) use self::command::{Variants, is_of_command};
pub(crate) use self::compared::{ComparedRuns, names_measure};
pub(crate) use self::history::History;
pub(crate) use self::predecessor::{Kinship, is_of_kind, kind, predecessor};
pub(crate) use self::report::StoredReport;
pub(crate) use self::run::{Results, StoredRun};
pub(crate) use self::snapshot::{finished, settings, snapshot};
pub(crate) use self::stored_trend::{Step, StoredTrend};
pub(crate) use self::trend::{Break, headlines};
