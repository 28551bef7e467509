//! YAML with the place of every key, and with errors in the words of those who write it.

mod error;
mod tree;
mod wording;

pub use error::YamlError;
pub(crate) use error::innermost;
pub use tree::{Entry, Tree};
pub use wording::in_plain_words;
