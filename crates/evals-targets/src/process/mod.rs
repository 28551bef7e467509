//! Worker processes: commands that read requests as JSON Lines on stdin and write replies as JSON Lines on stdout.
//!
//! A [`WorkerPool`] keeps a few processes of one [`WorkerCommand`]. It starts each when the first request for it comes, matches
//! replies to requests by `id`, and replaces a process that dies, hangs or writes something else. It knows nothing of targets: a
//! request and a reply are any JSON objects.

mod command;
mod fault;
mod gate;
mod health;
mod ledger;
mod lines;
mod pool;
mod protocol;
mod worker;

pub use command::{WorkerCommand, kill_all};
pub use fault::{WorkerError, WorkerFault};
pub use gate::RequestGate;
pub use pool::{TimedReply, WorkerOptions, WorkerPool, WorkerPools};
pub use protocol::Protocol;
pub(crate) use protocol::parse_json;

#[cfg(test)]
#[cfg(unix)]
mod tests;
