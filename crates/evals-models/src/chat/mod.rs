//! Chat models, and the requests and replies that they exchange.

mod reply;
mod request;

use std::fmt::Debug;

use async_trait::async_trait;
use serde_json::{Map, Value};

pub use reply::{ChatReply, Finish, Served, Usage};
pub use request::{
    ChatRequest, Message, ReplySchema, Role, Tool, ToolCall, ToolCallReference, object_schema,
};

use crate::error::ChatError;
use crate::identity::ModelIdentity;

/// A model that replies to a conversation with one text.
#[async_trait]
pub trait ChatModel: Debug + Send + Sync {
    /// Names the model as reports show it.
    fn identity(&self) -> &ModelIdentity;

    /// Everything that a reply depends on besides the request: kind of provider, address, model, digest, sampling, extra fields.
    ///
    /// It becomes part of the key of a stored reply and of a run's manifest, so it must not hold credentials.
    fn parameters(&self) -> Map<String, Value>;

    /// Notes for a report about the requests so far, such as fields that the server did not accept.
    ///
    /// Default: none.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Requests one reply.
    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError>;
}
