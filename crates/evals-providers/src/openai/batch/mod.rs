//! Chat requests that go to the server's batch endpoint: cheaper than direct calls, and answered within hours.
//!
//! [`BatchedChat`] gathers the requests of all its callers, submits them as one batch, and returns each reply to its caller. So that no
//! request is paid for twice, also after a kill at any moment:
//!
//! 1. A [record](record::BatchRecord) on the disk names the requests of a batch before the batch is submitted. One process at a time looks
//!    through the records and writes a new one.
//! 2. A process that needs a request of a record waits for that batch, whoever submitted it.
//! 3. When a batch is over, all of its replies go into the program's store of replies. Then the record is deleted.
//!
//! A kill between store and deletion leaves a record whose replies are all stored. It does no harm: if one of its requests is needed again,
//! the batch is collected again.

mod chat;
mod clerk;
mod endpoint;
mod follow;
#[cfg(test)]
mod fuzz;
mod host;
mod output;
mod record;
mod waiting;

pub use chat::BatchedChat;
pub use host::{BatchEvent, BatchHost, BatchSettings, BatchSize};
pub use output::BatchCounts;
