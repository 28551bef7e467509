//! The reply of a chat model.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::request::ToolCall;

/// The reply of a chat model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The text without reasoning. A model that calls tools often writes none.
    pub text: String,
    /// The tools that the model calls, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The reasoning before the text, if the model reasoned and the server shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Why the text ends where it does.
    pub finish: Finish,
    /// Tokens read and written.
    pub usage: Usage,
    /// Time, attempts, and whether the reply was stored.
    pub served: Served,
}

/// Why a reply ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// The model finished.
    Stop,
    /// The token limit was reached. The text is cut off, or empty if reasoning used all tokens.
    Length,
    /// The provider withheld the text.
    ContentFilter,
    /// The server gave no reason.
    Unknown,
    /// A reason that only this server uses.
    Other(String),
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the reply, reasoning included.
    pub output_tokens: u64,
    /// Whether either number is an estimate, because the server reported none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

/// How a reply was obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// How long the successful attempt took, without queueing and failed attempts. A stored reply keeps its original time. 0 for a
    /// [batched](Self::batched) reply.
    pub service_time: Duration,
    /// Number of attempts, at least 1.
    pub attempts: u32,
    /// Whether the reply was stored, so that nothing was sent or paid for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// Whether the reply came in a batch, which does not tell how long the model took. A stored reply keeps this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub batched: bool,
}

impl Usage {
    /// The sum of two calls.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            estimated: self.estimated || other.estimated,
        }
    }
}
