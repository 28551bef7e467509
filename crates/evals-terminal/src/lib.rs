//! The terminal: results on stdout, messages and progress bars on stderr, and the layout of both.

mod agreement;
mod link;
pub mod listing;
mod live;
mod pace;
mod printer;
pub mod progress;
mod progress_lines;
mod reports;

pub use self::agreement::{confusion_table, statistics_table};
pub use self::printer::{OutputArgs, Printer, StdoutError};
pub use self::reports::{
    console, live_console, report_text, run_console, run_text, table_text, tables_text, text,
    wrapped,
};
