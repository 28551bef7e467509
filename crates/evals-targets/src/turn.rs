//! A question's place in a conversation.

use evals_models::Message;
use serde::{Deserialize, Serialize};

/// The place of a question in a conversation, and what was said before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The conversation. Questions of one conversation have the same.
    pub conversation: String,
    /// Which question of the conversation it is, from 1.
    pub number: u64,
    /// The messages of the user and the assistant before the question, the oldest first.
    pub history: Vec<Message>,
}
