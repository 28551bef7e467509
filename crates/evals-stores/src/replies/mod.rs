//! Replies that were paid for once, kept so that nobody pays for them again.

mod cached_chat;
mod database;
mod flight;
mod key;
mod store;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use cached_chat::CachedChat;
pub use key::ReplyKey;
pub use store::ReplyStore;
