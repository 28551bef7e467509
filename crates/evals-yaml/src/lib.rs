//! YAML and JSON with the place of every value, and with errors worded for the people who write such files.
//!
//! Settings and manifests are YAML 1.2, read by serde: [`Tree`] keeps the lines of their keys. Dataset files are shared with
//! Python, so [`yaml11`] reads them as PyYAML does, into a [`Node`] with the line and column of every key and item; [`json`]
//! reads JSON into the same. [`to_yaml`] writes YAML that YAML 1.1 and 1.2 read alike.

mod error;
pub mod json;
mod node;
mod tree;
mod write;
pub mod yaml11;

pub use error::{YamlError, in_plain_words, innermost};
pub use node::{Content, Document, Key, Member, Node, Place, Step};
pub use tree::{Entry, Tree};
pub use write::to_yaml;
