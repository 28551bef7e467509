//! Replies that were paid for once, kept so that nobody pays for them again.

mod cached_chat;
mod database;
mod error;
mod flight;
mod key;
mod statistics;
mod store;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use cached_chat::{CachedChat, RefreshPolicy};
pub use error::ReplyStoreError;
pub use key::ReplyKey;
pub use statistics::{ModelReplies, ReplyStoreStatistics};
pub use store::{Prune, Pruned, ReplyStore};
