use std::error::Error;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use serde_json::{Map, Value};
use thiserror::Error;

use super::flight::Flights;
use super::{ReplyKey, ReplyStore};
use crate::store::{RefreshPolicy, StoreError};
use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Failure, Finish, ModelIdentity};

/// A model whose replies are stored, so that the same request is paid for once.
///
/// Every reply that the model gives is stored, one cut by its budget too; failures and empty replies without a reason are not. A stored reply comes with its
/// original time and tokens, marked as [cached](evals_models::Served::cached). Equal requests at the same time share one call.
#[derive(Debug)]
pub struct CachedChat {
    inner: Arc<dyn ChatModel>,
    store: ReplyStore,
    policy: RefreshPolicy,
    pub(super) flights: Flights,
    unwritable: OnceLock<Arc<StoreError>>,
}

/// A reply was received and could not be stored.
#[derive(Debug, Error)]
#[error("replies cannot be stored any more, and would have to be paid for again")]
struct Unwritable(#[source] Arc<StoreError>);

impl CachedChat {
    /// A model in front of which a store answers what it can.
    pub fn new(inner: Arc<dyn ChatModel>, store: ReplyStore) -> Self {
        Self {
            inner,
            store,
            policy: RefreshPolicy::default(),
            flights: Flights::default(),
            unwritable: OnceLock::new(),
        }
    }

    /// Says whether stored replies are used.
    #[must_use]
    pub fn with_policy(self, policy: RefreshPolicy) -> Self {
        Self { policy, ..self }
    }

    async fn stored(&self, key: ReplyKey) -> Result<Option<ChatReply>, ChatError> {
        match self.policy {
            RefreshPolicy::Refresh => Ok(None),
            RefreshPolicy::Reuse => {
                let stored = self.store.get(key).await;
                stored.map_err(|error| self.terminal(error))
            }
        }
    }

    /// Asks the model and stores its reply.
    async fn ask(&self, key: ReplyKey, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        if let Some(error) = self.unwritable.get() {
            return Err(self.terminal(Unwritable(Arc::clone(error))));
        }
        let reply = self.inner.chat(request).await?;
        if says_something(&reply) {
            self.keep(key, reply.clone()).await;
        }
        Ok(reply)
    }

    /// Stores a reply.
    ///
    /// That it cannot be stored is no reason to throw away a reply that was paid for, but one not to pay for another.
    async fn keep(&self, key: ReplyKey, reply: ChatReply) {
        if let Err(error) = self.store.put(key, self.identity(), reply).await {
            self.unwritable.get_or_init(|| Arc::new(error));
        }
    }

    fn terminal(&self, source: impl Error + Send + Sync + 'static) -> ChatError {
        ChatError {
            model: self.identity().clone(),
            failure: Failure::Terminal,
            source: Box::new(source),
        }
    }
}

/// Whether a reply is worth keeping: an empty one is so only where it is known why, because the next may not be empty.
fn says_something(reply: &ChatReply) -> bool {
    let known = matches!(reply.finish, Finish::Length | Finish::ContentFilter);
    known || !reply.text.trim().is_empty()
}

#[async_trait]
impl ChatModel for CachedChat {
    fn identity(&self) -> &ModelIdentity {
        self.inner.identity()
    }

    fn parameters(&self) -> Map<String, Value> {
        self.inner.parameters()
    }

    /// Those of the model, and that a reply could not be stored.
    fn notes(&self) -> Vec<String> {
        let unstored = self.unwritable.get().map(|error| {
            format!("a reply could not be stored, and is paid for again when it is needed again: {error}")
        });
        self.inner.notes().into_iter().chain(unstored).collect()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let key = ReplyKey::new(self.inner.as_ref(), request);
        let flight = self.flights.join(key);
        let mut shared = flight.turn().await;
        let stored = match &*shared {
            Some(reply) => Some(reply.clone()),
            None => self.stored(key).await?,
        };
        if let Some(mut reply) = stored {
            reply.served.cached = true;
            return Ok(reply);
        }
        let reply = self.ask(key, request).await?;
        *shared = Some(reply.clone());
        Ok(reply)
    }
}
