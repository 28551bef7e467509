//! Chat requests that go to the server's batch endpoint: cheaper than direct calls, and answered within hours.
//!
//! [`BatchedChat`] gathers the requests of all its callers, submits them as one batch, and returns each reply to its caller. A record on
//! the disk ([`record`]) says which requests are in which batch, so that no request is paid for twice, also after a kill at any moment.

mod chat;
mod clerk;
mod endpoint;
mod error;
mod event;
#[cfg(test)]
mod fuzz;
mod host;
mod input;
mod output;
mod record;
mod settings;
mod status;
mod submission;
mod waiting;

pub use chat::BatchedChat;
pub use event::BatchEvent;
pub use host::{BatchHost, BatchSize};
pub use settings::{BatchSettings, RequestKey};
pub use status::BatchCounts;
