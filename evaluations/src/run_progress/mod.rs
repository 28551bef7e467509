//! The progress of a run, read from its folder while another process works on it.

mod fact;
mod pace;
mod patience;
mod progress;
mod reader;
#[cfg(test)]
mod tests;
mod without_texts;

pub(crate) use self::patience::Patience;
#[cfg(test)]
pub(crate) use self::progress::Spent;
pub(crate) use self::progress::{Counts, Progress};
pub(crate) use self::reader::ProgressReader;
