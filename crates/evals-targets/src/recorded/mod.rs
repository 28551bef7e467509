//! Replies that are recorded before anybody uses them, so that nothing is asked twice.

mod file;
mod target;
#[cfg(test)]
mod tests;

pub use file::{ReplyFile, Resumption};
pub use target::RecordedTarget;
