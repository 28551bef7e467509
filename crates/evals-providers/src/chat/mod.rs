//! The parts that the chat models of both protocols share: their replies, reasoning and parameters.

#[cfg(test)]
mod fuzz;
mod parameters;
pub(crate) mod raw_reply;
pub(crate) mod reasoning;

pub(crate) use parameters::parameters;
pub(crate) use raw_reply::RawReply;
