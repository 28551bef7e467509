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
mod fields;
#[cfg(test)]
mod fuzz;
mod json_text;
mod levels;
mod path;
mod reader;
mod steps;
mod stream;
#[cfg(test)]
mod tests;

use evals_messages::visible;
use serde_json::Value;
use thiserror::Error;

pub(crate) use fields::error;
pub use reader::Mapping;
pub use stream::{Event, EventDecoder, StreamReader, StreamState};

/// The characters of a reply that a message shows.
const SHOWN: usize = 200;

/// Why a reply cannot be read. The message shows the beginning of the reply, unless it is empty.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{problem}{}", shown(beginning))]
pub struct MappingError {
    /// The mistake, with the field or path that it concerns.
    pub problem: String,
    /// The first 200 characters of the reply, on one line and without control characters.
    pub beginning: String,
    /// Whether it is an error that the target reports, which may be the same for every question.
    pub is_reported: bool,
}

impl MappingError {
    pub(super) fn new(problem: impl Into<String>, reply: &Value) -> Self {
        Self::of_text(problem, &reply.to_string())
    }

    /// The problem of a reply that is only a text.
    pub fn of_text(problem: impl Into<String>, reply: &str) -> Self {
        Self {
            problem: problem.into(),
            beginning: beginning(reply),
            is_reported: false,
        }
    }

    /// The same problem as one that the target reports.
    pub(super) fn reported(self) -> Self {
        Self {
            is_reported: true,
            ..self
        }
    }
}

fn shown(beginning: &str) -> String {
    if beginning.is_empty() {
        String::new()
    } else {
        format!("; the reply begins with `{beginning}`")
    }
}

/// The first 200 characters of a text, on one line and without control characters.
fn beginning(text: &str) -> String {
    // White space may fold to less, so more than that many characters are looked at.
    let start: String = text.trim_start().chars().take(4 * SHOWN).collect();
    visible::beginning(&visible::single_line(&start), SHOWN)
}

/// The kind of a value in messages: `a text`, `a number`.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod error_tests {
    use super::*;

    #[test]
    fn the_beginning_is_200_visible_characters() {
        let error = MappingError::of_text("x", &format!("a\u{1b}[31m\n  b{}", "ä".repeat(300)));
        assert!(error.beginning.starts_with("a\\u{1b}[31m bää"), "{error}");
        assert_eq!(error.beginning.chars().count(), SHOWN + 1);
    }
}
