use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The text without reasoning.
    pub text: String,
    /// What the model thought aloud first, where it did and the server shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Why the text ends where it does.
    pub finish: Finish,
    /// Tokens read and written.
    pub usage: Usage,
    /// How the reply came about.
    pub served: Served,
}

/// Why a reply ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The budget of tokens was used up; the text is cut, or empty where reasoning took all of it.
    Length,
    /// The provider kept the text back.
    ContentFilter,
    /// The server gave no reason.
    Unknown,
    /// A reason that only this server knows.
    Other(String),
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the reply, reasoning included.
    pub output_tokens: u64,
    /// Whether any of the numbers was counted here, because the server gave none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

/// How a reply came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Served {
    /// How long the attempt took that succeeded, without queueing and failed attempts; of a stored reply, how long it took then.
    pub service_time: Duration,
    /// Attempts that it took, at least 1.
    pub attempts: u32,
    /// Whether it is a stored reply, so that nothing was asked and nothing is to be paid.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

impl Usage {
    /// The tokens of two calls together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            estimated: self.estimated || other.estimated,
        }
    }
}
