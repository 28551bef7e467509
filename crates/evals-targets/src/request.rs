//! The request to a target.

use serde_json::Value;

/// One question to a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The id of the case, unique within a run.
    pub id: String,
    /// Which repetition of the case this is, from 1.
    pub repeat: u32,
    /// The question, or other inputs.
    pub inputs: Inputs,
    /// How many documents the measures look at, as a hint; `None` if nothing depends on it. Templates can name it; no target has
    /// to return as many.
    pub k: Option<usize>,
}

/// The inputs of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Inputs {
    /// A benchmark's question. Targets are sent `{"id": …, "question": …}`.
    Question(String),
    /// The `inputs` of a dataset file's case. A service is sent them as they are; a command is sent `{"id": …, "inputs": …}`.
    Value(Value),
}

impl Request {
    /// The first repetition of a benchmark's question.
    pub fn question(id: impl Into<String>, question: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            repeat: 1,
            inputs: Inputs::Question(question.into()),
            k: None,
        }
    }

    /// The first repetition of a dataset file's case.
    pub fn inputs(id: impl Into<String>, inputs: Value) -> Self {
        Self {
            id: id.into(),
            repeat: 1,
            inputs: Inputs::Value(inputs),
            k: None,
        }
    }
}
