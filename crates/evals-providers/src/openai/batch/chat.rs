//! A chat model whose requests go in batches.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use evals::JournalError;
use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Failure, ModelIdentity};
use serde_json::{Map, Value};
use tokio::sync::{mpsc, oneshot};

use super::clerk::{BatchedRequest, Clerk};
use super::endpoint::Batching;
use super::host::{BatchHost, BatchSettings};
use super::record::RecordFolder;
use crate::chat::raw_reply;
use crate::openai::chat::OpenAiChat;
use crate::traffic::AttemptError;

/// A chat model whose requests go to the server's batch endpoint.
///
/// Requests of all callers are gathered until none has come for [`BatchSettings::quiet`], and submitted as one batch. A call returns when
/// its reply is there, which may take hours; the reply says that it was [batched](evals_models::Served::batched). Identity and parameters
/// are those of the model behind it, so that a store in front of it makes no difference between replies of a batch and direct ones.
///
/// A failed request goes into further batches as far as that may help: three times after a temporary failure, twice when its batch
/// expired or had no line for it. A batch that the server refuses as a whole ends all its requests with the server's reason.
///
/// The folder of the settings records which requests are in which batch. A later process waits for the same batch, and submits none of
/// its requests again. Every reply is passed to [`BatchHost::receive`] before a caller gets it.
///
/// With [`BatchSettings::submits`] off, it submits no batch and waits for none: replies of earlier processes' batches that have ended are
/// returned, a request in a batch that has not ended fails, and every other request is sent directly.
#[derive(Debug)]
pub struct BatchedChat {
    batching: Arc<Batching>,
    clerk: mpsc::UnboundedSender<BatchedRequest>,
}

impl BatchedChat {
    /// Puts batches in front of a model. Needs a runtime. Nothing is sent before the first request.
    pub fn new(chat: OpenAiChat, settings: BatchSettings, host: Arc<dyn BatchHost>) -> Self {
        let (clerk, inbox) = mpsc::unbounded_channel();
        let batching = Arc::new(Batching::new(chat, settings, host));
        tokio::spawn(Clerk::new(Arc::clone(&batching), inbox).work());
        Self { batching, clerk }
    }

    /// Whether earlier processes left batches of this model. The folder is that of [`BatchSettings::folder`].
    ///
    /// # Errors
    ///
    /// A record in the folder cannot be read.
    pub fn has_earlier(chat: &OpenAiChat, folder: &Path) -> Result<bool, JournalError> {
        let mut records = RecordFolder::new(folder, chat.parameters());
        records.scan()?;
        Ok(!records.is_empty())
    }
}

#[async_trait]
impl ChatModel for BatchedChat {
    fn identity(&self) -> &ModelIdentity {
        self.batching.chat.identity()
    }

    fn parameters(&self) -> Map<String, Value> {
        self.batching.chat.parameters()
    }

    fn notes(&self) -> Vec<String> {
        self.batching.chat.notes()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let id = self.batching.host.key(&self.batching.chat, request);
        let (caller, answer) = oneshot::channel();
        // Only a bug or the end of the runtime ends the clerk before its model.
        let ended = || {
            let text = "the batches of this model are not worked on any more";
            raw_reply::chat_error(self.identity(), AttemptError::new(Failure::Terminal, text))
        };
        let asked = self.clerk.send(BatchedRequest {
            id: id.clone(),
            request: Arc::new(request.clone()),
            caller,
        });
        asked.map_err(|_| ended())?;
        match answer.await.map_err(|_| ended())?? {
            Some(reply) => Ok(reply),
            None => self.batching.ask_directly(&id, request).await,
        }
    }
}
