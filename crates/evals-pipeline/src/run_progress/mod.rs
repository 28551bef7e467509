//! The progress of a run, read from its folder while another process works on it.

mod fact;
mod pace;
mod patience;
mod progress;
mod reader;
#[cfg(test)]
mod tests;
mod without_texts;

pub use self::patience::Patience;
pub use self::progress::{Counts, Progress, Spent};
pub use self::reader::ProgressReader;
