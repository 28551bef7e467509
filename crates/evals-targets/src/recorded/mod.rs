//! Replies that are recorded before anybody uses them, so that nothing is asked twice, and what they cost.

mod file;
mod line;
mod target;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use line::read_back;

pub use file::{ReplyFile, Resumption};
pub use line::Payment;
pub use target::RecordedTarget;
