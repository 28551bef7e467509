//! Opens chat models: connects to the server, meters the calls, and puts the cache of replies in front.

use std::sync::Arc;

use anyhow::Result;
use evals_models::ChatModel;
use evals_rag::answering::QueryRecorder;
use evals_settings::{ChatKind, Resolved};
use evals_stores::replies::{CachedChat, ReplyStore};
use evals_stores::store::RefreshPolicy;

use crate::batches::Batches;
use crate::choices;
use crate::interruption::Interruption;
use crate::models::{ConfiguredChat, ConfiguredModels, Servers};
use crate::options::Refresh;
use crate::session::Session;
use crate::spending::{Metered, Spending};

/// How a run uses cached replies and scores; `None` neither reads nor writes them.
pub(crate) fn cache_policy(no_cache: bool, refresh: Option<Refresh>) -> Option<RefreshPolicy> {
    match (no_cache, refresh) {
        (true, _) => None,
        // Unusable replies are cached too and would fail their cases again.
        (false, Some(Refresh::All | Refresh::Failed)) => Some(RefreshPolicy::Refresh),
        (false, None) => Some(RefreshPolicy::Reuse),
    }
}

/// Opens the models of a run.
pub(crate) struct Opener<'o, 'r> {
    pub(crate) session: &'o Session<'o>,
    pub(crate) resolved: &'r Resolved,
    pub(crate) models: &'r ConfiguredModels,
    pub(crate) servers: &'o mut Servers<'r>,
    /// How to use cached replies and scores; `None` ignores them.
    pub(crate) cache: Option<RefreshPolicy>,
    pub(crate) spending: &'o Arc<Spending>,
    pub(crate) interruption: &'o Interruption,
    /// Records the search's question vectors; `None` where no answerer reuses them.
    pub(crate) query_recorder: Option<Arc<QueryRecorder>>,
    pub(crate) batches: Batches,
    /// Whether chat models refuse calls once the budget is spent.
    pub(crate) stops_at_budget: bool,
    store: Option<ReplyStore>,
}

impl<'o, 'r> Opener<'o, 'r> {
    pub(crate) fn new(
        session: &'o Session<'o>,
        resolved: &'r Resolved,
        models: &'r ConfiguredModels,
        servers: &'o mut Servers<'r>,
        cache: Option<RefreshPolicy>,
        spending: &'o Arc<Spending>,
        interruption: &'o Interruption,
    ) -> Self {
        Self {
            session,
            resolved,
            models,
            servers,
            cache,
            spending,
            interruption,
            query_recorder: None,
            batches: Batches::of(session, resolved, spending, interruption),
            stops_at_budget: false,
            store: None,
        }
    }

    /// Opens a chat model behind the cache of replies. Its calls are direct.
    pub(crate) async fn chat(&mut self, model: &ConfiguredChat) -> Result<Arc<dyn ChatModel>> {
        let inner = self.servers.chat(&repeatable(model)).await?;
        self.cached(inner).await
    }

    /// Opens a chat model behind the cache of replies. Its calls go in batches if the run uses batches and the model's server may support
    /// them. In any case, replies that an earlier run has paid for in a batch are not paid for again.
    pub(crate) async fn chat_in_batches(
        &mut self,
        model: &ConfiguredChat,
    ) -> Result<Arc<dyn ChatModel>> {
        if !matches!(model.settings.kind, ChatKind::OpenAi(_)) {
            return self.chat(model).await;
        }
        let chat = self.servers.openai_chat(&repeatable(model)).await?;
        if !self.batches.concern(&chat, self.cache.is_some())? {
            return self.cached(Arc::new(chat)).await;
        }
        // A plan with batches has refused a run without a cache.
        let policy = self.cache.unwrap_or_default();
        let store = self.store().await?;
        let price = choices::prices(self.resolved).of(chat.identity());
        let reuses = policy == RefreshPolicy::Reuse;
        // It counts its own cost.
        let batched = self.batches.put_before(chat, price, store.clone(), reuses);
        let cached = CachedChat::new(batched, store).within_process();
        Ok(Arc::new(cached.with_policy(policy)))
    }

    async fn cached(&mut self, inner: Arc<dyn ChatModel>) -> Result<Arc<dyn ChatModel>> {
        let price = choices::prices(self.resolved).of(inner.identity());
        let metered = Metered::new(inner, price, self.spending);
        let metered = Arc::new(metered.stopping_at_budget(self.stops_at_budget));
        let Some(policy) = self.cache else {
            return Ok(metered);
        };
        let store = self.store().await?;
        Ok(Arc::new(
            CachedChat::new(metered, store).with_policy(policy),
        ))
    }

    /// The store of replies, which all models share.
    async fn store(&mut self) -> Result<ReplyStore> {
        if let Some(store) = &self.store {
            return Ok(store.clone());
        }
        let path = self.session.directories.replies();
        let store = ReplyStore::open_watched(path, self.session.printer.watch()).await?;
        self.interruption.track_writes(store.writes());
        Ok(self.store.insert(store).clone())
    }
}

/// The same model at temperature 0 unless the settings say otherwise: answers are then as repeatable as the server allows.
fn repeatable(model: &ConfiguredChat) -> ConfiguredChat {
    let mut model = model.clone();
    if let Some((_, sampling)) = model.settings.kind.served_mut() {
        sampling.temperature.get_or_insert(0.0);
    }
    model
}
