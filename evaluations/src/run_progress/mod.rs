//! The progress of a run, read from its folder while another process works on it.

mod pace;
mod plan;
mod progress;
mod reader;
mod skimmed;

pub(crate) use self::pace::printed_pace;
pub(crate) use self::progress::{Counts, Progress, Spent};
pub(crate) use self::reader::ProgressReader;
