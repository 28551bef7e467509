//! How a reply is read: without settings in the documented forms, or by the paths of `response`.
//!
//! ```
//! use evals_targets::{Mapping, ResponseSettings};
//! use serde_json::json;
//!
//! let mapping = Mapping::new(&ResponseSettings::default()).unwrap();
//! let reply = mapping.read(&json!({"answer": "Paris", "documents": ["d1", {"id": "d2", "score": 0.5}]})).unwrap();
//! assert_eq!(reply.answer, Some("Paris".into()));
//! assert_eq!(reply.documents.unwrap()[1].id.as_deref(), Some("d2"));
//!
//! let settings = ResponseSettings { answer: Some("$.output.text".to_owned()), ..ResponseSettings::default() };
//! let reply = Mapping::new(&settings).unwrap().read(&json!({"output": {"text": "Paris"}})).unwrap();
//! assert_eq!(reply.answer, Some("Paris".into()));
//! ```

mod chat_completion;
mod error;
mod events;
mod fields;
#[cfg(test)]
mod fuzz;
mod json_text;
mod levels;
mod path;
mod paths;
mod reader;
mod steps;
mod stream;
#[cfg(test)]
mod tests;

pub use error::MappingError;
pub use events::{Event, EventDecoder};
pub(crate) use fields::error;
pub use reader::Mapping;
pub use stream::{StreamReader, StreamState};
