//! What people look at: pages, figures and files of reports, and comparisons of stored runs.
//!
//! [`page`] makes the model of a page from reports, [`figures`] their drawings, and [`out_file`] the files of `--out`. [`ComparedRuns`] are
//! the runs of a comparison with their reports. Nothing here needs an index or a model.

mod compared;
pub mod figures;
pub mod out_file;
pub mod page;
pub mod results;
mod shown;

pub use self::compared::{ComparedRuns, Incomparable, names_measure};
pub use self::shown::shown_report;
