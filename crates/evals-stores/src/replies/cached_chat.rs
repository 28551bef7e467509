//! A chat model with a store in front of it.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Failure, Finish, ModelIdentity};
use serde_json::{Map, Value};

use super::flight::{Claim, Flights};
use super::{ReplyStore, reply_key};
use crate::store::{EntryKey, RefreshPolicy, WriteFailure};

/// A chat model whose replies are stored, so that a request is paid for once.
///
/// Every reply is stored, even one that its token limit cut off. Failures are not stored, nor are empty replies for no known
/// reason. Whoever collects a batch stores its replies. A stored reply keeps its original time and tokens and is marked as
/// [cached](evals_models::Served::cached). Equal requests at the same time share one call, also those of other processes with the same store,
/// if both reuse stored replies.
#[derive(Debug)]
pub struct CachedChat {
    inner: Arc<dyn ChatModel>,
    store: ReplyStore,
    policy: RefreshPolicy,
    waits_for_others: bool,
    pub(super) flights: Flights,
    failure: WriteFailure,
}

impl CachedChat {
    /// Puts a store in front of a model.
    pub fn new(inner: Arc<dyn ChatModel>, store: ReplyStore) -> Self {
        Self {
            inner,
            store,
            policy: RefreshPolicy::default(),
            waits_for_others: true,
            flights: Flights::default(),
            failure: WriteFailure::default(),
        }
    }

    /// Sets whether stored replies are used.
    #[must_use]
    pub fn with_policy(self, policy: RefreshPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Shares calls only within this process: for a model whose calls take hours, such as one whose requests go in batches.
    #[must_use]
    pub fn within_process(self) -> Self {
        Self {
            waits_for_others: false,
            ..self
        }
    }

    async fn stored(&self, key: EntryKey) -> Result<Option<ChatReply>, ChatError> {
        match self.policy {
            RefreshPolicy::Refresh => Ok(None),
            RefreshPolicy::Reuse => {
                let stored = self.store.get(key).await;
                stored.map_err(|error| self.terminal(error))
            }
        }
    }

    /// Asks the model and stores its reply.
    async fn ask(&self, key: EntryKey, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let writable = self.failure.check("replies");
        writable.map_err(|error| self.terminal(error))?;
        let reply = self.inner.chat(request).await?;
        // The model found a cached one in the store: another process stored it while this request waited. The replies of a batch are stored
        // together.
        let is_stored = reply.served.cached || reply.served.batched;
        if !is_stored && is_worth_storing(&reply) {
            let stored = self.store.put(key, self.identity(), reply.clone()).await;
            self.failure.record(stored);
        }
        Ok(reply)
    }

    fn terminal(&self, source: impl Error + Send + Sync + 'static) -> ChatError {
        ChatError {
            model: self.identity().clone(),
            failure: Failure::Terminal,
            source: Box::new(source),
        }
    }
}

/// Whether a reply is worth storing. One that is empty for no known reason is not, because the next may not be empty.
pub fn is_worth_storing(reply: &ChatReply) -> bool {
    let known = matches!(reply.finish, Finish::Length | Finish::ContentFilter);
    known || !reply.text.trim().is_empty() || !reply.tool_calls.is_empty()
}

#[async_trait]
impl ChatModel for CachedChat {
    fn identity(&self) -> &ModelIdentity {
        self.inner.identity()
    }

    fn parameters(&self) -> Map<String, Value> {
        self.inner.parameters()
    }

    /// The notes of the model, and one if a reply could not be stored.
    fn notes(&self) -> Vec<String> {
        let unstored = self.failure.get().map(|error| {
            format!("a reply could not be stored, so the next run pays for it again: {error}")
        });
        self.inner.notes().into_iter().chain(unstored).collect()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let key = reply_key(self.inner.as_ref(), request);
        let flight = self.flights.join(key);
        let mut shared = flight.turn().await;
        let mut stored = match &*shared {
            Some(reply) => Some(reply.clone()),
            None => self.stored(key).await?,
        };
        let mut claim = None;
        if stored.is_none() && self.waits_for_others && self.policy == RefreshPolicy::Reuse {
            claim = Claim::take(&self.store, key).await;
            // Another process may have stored the reply since.
            stored = self.stored(key).await?;
        }
        if let Some(mut reply) = stored {
            reply.served.cached = true;
            return Ok(reply);
        }
        let reply = self.ask(key, request).await?;
        drop(claim);
        *shared = Some(reply.clone());
        Ok(reply)
    }
}
