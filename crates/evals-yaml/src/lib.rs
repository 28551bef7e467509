//! YAML with the line of every key, and with errors worded for the people who write YAML.

mod error;
mod tree;
mod wording;

pub use error::{YamlError, innermost};
pub use tree::{Entry, Tree};
pub use wording::in_plain_words;
