use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One conversation to be answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The conversation so far, oldest message first.
    pub messages: Vec<Message>,
    /// The shape that the reply has to have, for servers that can be held to one; the caller still checks the reply.
    pub schema: Option<ReplySchema>,
    /// Most tokens of the reply, reasoning included; `None`: as the model is set.
    pub max_tokens: Option<NonZeroU32>,
    /// Which repetition of the same conversation this is, from 1, so that a repetition is not answered from a cache.
    pub repeat: u32,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// Who speaks in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The instructions.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

/// A JSON Schema for a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplySchema {
    /// A name of letters, digits, `_` and `-`, which OpenAI's protocol asks for.
    pub name: String,
    /// The schema: an object without `$ref`, every property required and no other allowed, as strict servers demand.
    pub schema: Value,
}

impl ChatRequest {
    /// A conversation without a schema, with the model's own budget, for the first time.
    pub fn new(messages: Vec<Message>) -> Self {
        Self {
            messages,
            schema: None,
            max_tokens: None,
            repeat: 1,
        }
    }
}

impl Message {
    /// An instruction.
    pub fn system(content: impl Into<String>) -> Self {
        Self::of(Role::System, content)
    }

    /// A question.
    pub fn user(content: impl Into<String>) -> Self {
        Self::of(Role::User, content)
    }

    /// Something that the model said before.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::of(Role::Assistant, content)
    }

    fn of(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
        }
    }
}
