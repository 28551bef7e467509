//! Opens chat models: their servers, a meter on their calls, and the store of replies in front of both.

use std::sync::Arc;

use anyhow::Result;
use evals_models::ChatModel;
use evals_rag::answering::QueryRecorder;
use evals_stores::replies::{CachedChat, ReplyStore};
use evals_stores::store::RefreshPolicy;

use crate::choices;
use crate::cli::Refresh;
use crate::interruption::Interruption;
use crate::models::{ConfiguredModel, ConfiguredModels, Servers};
use crate::session::Session;
use crate::settings::Resolved;
use crate::spending::{Metered, Spending};

/// How a run uses stored replies and scores: `None` neither reads nor writes them.
pub(crate) fn cache_policy(no_cache: bool, refresh: Option<Refresh>) -> Option<RefreshPolicy> {
    match (no_cache, refresh) {
        (true, _) => None,
        // A reply that could not be used is stored like any other, and would fail its case again.
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
    /// How stored replies and scores are used; `None` where they are not.
    pub(crate) cache: Option<RefreshPolicy>,
    pub(crate) spending: &'o Arc<Spending>,
    pub(crate) interruption: &'o Interruption,
    /// Records the search's question vectors; `None` where no answerer reuses them.
    pub(crate) query_recorder: Option<Arc<QueryRecorder>>,
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
            store: None,
        }
    }

    /// A chat model that is asked through the store of replies.
    pub(crate) async fn chat(&mut self, model: &ConfiguredModel) -> Result<Arc<dyn ChatModel>> {
        let mut model = model.clone();
        // A run that is repeated should give the same answers, as far as the server can.
        model.settings.temperature.get_or_insert(0.0);
        let inner = self.servers.chat(&model).await?;
        let price = choices::prices(self.resolved).of(inner.identity());
        let metered = Arc::new(Metered::new(inner, price, self.spending));
        let Some(policy) = self.cache else {
            return Ok(metered);
        };
        let store = if let Some(store) = &self.store {
            store.clone()
        } else {
            let path = self.session.directories.replies();
            let store = ReplyStore::open_watched(path, self.session.printer.watch()).await?;
            self.interruption.track_writes(store.writes());
            self.store.insert(store).clone()
        };
        Ok(Arc::new(
            CachedChat::new(metered, store).with_policy(policy),
        ))
    }
}
