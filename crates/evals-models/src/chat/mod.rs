//! What the rest of the workspace may know about a model that writes text.

mod error;
mod reply;
mod request;

use std::fmt::Debug;

use async_trait::async_trait;
use serde_json::{Map, Value};

pub use error::ChatError;
pub use reply::{ChatReply, Finish, Served, Usage};
pub use request::{ChatRequest, Message, ReplySchema, Role};

use crate::ModelIdentity;

/// A model that answers a conversation with one text.
#[async_trait]
pub trait ChatModel: Debug + Send + Sync {
    /// Names the model as reports show it.
    fn identity(&self) -> &ModelIdentity;

    /// Everything but the request that a reply depends on: kind of provider, address, model, digest, sampling, extra fields.
    ///
    /// It is part of the key of a stored reply and of a run's manifest, so it holds no credentials.
    fn parameters(&self) -> Map<String, Value>;

    /// What a report should say of how the model was asked, learnt so far: what its server did not take of the requests.
    ///
    /// Default: nothing.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Asks for one reply.
    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError>;
}
