//! A chat model whose requests go in batches.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use evals::JournalError;
use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Failure, ModelIdentity};
use serde_json::{Map, Value};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use super::clerk::{Clerk, Message};
use super::endpoint::Endpoint;
use super::host::BatchHost;
use super::record::Record;
use super::settings::BatchSettings;
use super::submission::Desk;
use crate::openai::chat::OpenAiChat;

/// The task that owns the batches ended, which only a bug or the end of the runtime brings about.
#[derive(Debug, Error)]
#[error("the batches of this model are not worked on any more")]
struct Ended;

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
/// its requests again. A reply is kept there until [`ChatModel::stored`] says that the caller has it.
///
/// With [`BatchSettings::submits`] off, it submits no batch and waits for none: replies of earlier processes' batches that have ended are
/// returned, a request in a batch that has not ended fails, and every other request is sent directly.
pub struct BatchedChat {
    chat: Arc<OpenAiChat>,
    settings: Arc<BatchSettings>,
    clerk: mpsc::UnboundedSender<Message>,
    /// The clerk before its first message: it needs a runtime.
    idle: Mutex<Option<Clerk>>,
}

impl BatchedChat {
    /// Puts batches in front of a model. Nothing is read or sent before the first request.
    pub fn new(chat: OpenAiChat, settings: BatchSettings, host: Arc<dyn BatchHost>) -> Self {
        let (chat, settings) = (Arc::new(chat), Arc::new(settings));
        let (clerk, inbox) = mpsc::unbounded_channel();
        let desk = Desk {
            chat: Arc::clone(&chat),
            endpoint: Arc::new(Endpoint::new(Arc::clone(&chat), settings.submits)),
            settings: Arc::clone(&settings),
            host,
        };
        Self {
            chat,
            settings,
            clerk,
            idle: Mutex::new(Some(Clerk::new(desk, inbox))),
        }
    }

    /// Whether earlier processes left batches of this model whose replies are not all stored. The folder is that of
    /// [`BatchSettings::folder`].
    ///
    /// # Errors
    ///
    /// A record in the folder cannot be read.
    pub fn has_earlier(chat: &OpenAiChat, folder: &Path) -> Result<bool, JournalError> {
        let records = Record::list(folder, &chat.parameters())?;
        Ok(records.iter().any(|(_, contents)| !contents.is_over()))
    }

    fn start(&self) {
        let idle = self.idle.lock();
        if let Some(clerk) = idle.unwrap_or_else(PoisonError::into_inner).take() {
            tokio::spawn(clerk.work());
        }
    }

    fn id(&self, request: &ChatRequest) -> String {
        (self.settings.key)(&*self.chat, request)
    }

    fn ended(&self) -> ChatError {
        ChatError {
            model: self.identity().clone(),
            failure: Failure::Terminal,
            source: Box::new(Ended),
        }
    }
}

#[async_trait]
impl ChatModel for BatchedChat {
    fn identity(&self) -> &ModelIdentity {
        self.chat.identity()
    }

    fn parameters(&self) -> Map<String, Value> {
        self.chat.parameters()
    }

    fn notes(&self) -> Vec<String> {
        self.chat.notes()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.start();
        let (caller, answer) = oneshot::channel();
        let asked = self.clerk.send(Message::Ask {
            id: self.id(request),
            request: Arc::new(request.clone()),
            caller,
        });
        asked.map_err(|_| self.ended())?;
        match answer.await.map_err(|_| self.ended())?? {
            Some(reply) => Ok(reply),
            None => self.chat.chat(request).await,
        }
    }

    fn stored(&self, request: &ChatRequest) {
        // An earlier process may have ended before it noted that the reply is stored.
        self.start();
        let _ = self.clerk.send(Message::Stored {
            id: self.id(request),
        });
    }
}

impl fmt::Debug for BatchedChat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BatchedChat")
            .field("chat", &self.chat)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
