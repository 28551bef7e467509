//! Replies that are recorded before anybody uses them, so that nothing is asked twice, and what they cost.

mod file;
mod target;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use file::read_back;
pub use file::{Payment, ReplyFile, Resumption};
pub use target::RecordedTarget;
