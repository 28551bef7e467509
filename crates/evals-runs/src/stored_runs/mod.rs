//! Finds the stored runs that a command line names, and their reports, trends and predecessors.

mod choice;
mod command;
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

pub use self::choice::{StoredRuns, is_latest, is_unknown};
pub use self::command::{Variants, is_of_command};
pub use self::headline::Headline;
pub use self::history::History;
pub use self::made_by::made_by;
pub use self::names::{labels, page_names};
pub use self::predecessor::{Kinship, is_of_kind, kind, predecessor};
pub use self::report::{AnyReport, Facts, StoredReport};
pub use self::run::{Results, StoredRun, is_finished};
pub use self::snapshot::{finished, settings, snapshot};
pub use self::stored_trend::{Step, StoredTrend, TREND};
pub use self::trend::{Break, headlines};
