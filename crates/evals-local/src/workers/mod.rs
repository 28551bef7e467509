//! The threads that run a model, and the texts that go through them.

mod texts;
mod threads;

pub(crate) use texts::{Computed, Failed, TextFault};
pub(crate) use threads::{Timed, Workers};
