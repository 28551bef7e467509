//! The terminal: results on stdout, messages and progress bars on stderr, and the layout of both.

mod agreement;
mod link;
pub(crate) mod listing;
mod live;
mod meaning;
mod printer;
pub(crate) mod progress;
mod reports;
mod visible;

pub(crate) use self::agreement::{confusion_table, statistics_table};
pub(crate) use self::printer::{Printer, StdoutError};
pub(crate) use self::reports::{
    console, live_console, report_text, run_console, run_text, table_text, text, wrapped,
};
pub(crate) use self::visible::printable;
