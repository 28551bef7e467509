//! Tools that a model may call, and its calls.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// A name of letters, digits, `_` and `-`.
    pub name: String,
    /// The tool's purpose, in words for the model.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub parameters: Value,
}

/// The call of a tool, as a model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Tells calls of one conversation apart. Servers that give none get `call_1`, `call_2`, ….
    pub id: String,
    /// The tool's name, which may be that of no tool.
    pub name: String,
    /// The arguments as JSON text, which may be malformed.
    pub arguments: String,
}

/// The call that a message with a tool's result replies to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCallReference {
    /// [`ToolCall::id`].
    pub id: String,
    /// [`ToolCall::name`].
    pub name: String,
}
