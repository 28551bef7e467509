//! Stored runs as commands show them: their reports, and comparisons of several.

mod compared;
mod shown;

pub(crate) use self::compared::{ComparedRuns, Incomparable, names_measure};
pub(crate) use self::shown::shown_report;
