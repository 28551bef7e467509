//! Stored replies of chat models.

mod cached_chat;
mod claim;
mod entry;
mod flight;
mod key;
#[cfg(test)]
mod tests;

pub use cached_chat::{CachedChat, is_worth_storing};
pub use entry::ReplyStore;
pub use key::reply_key;
