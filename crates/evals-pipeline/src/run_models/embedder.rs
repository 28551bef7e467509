//! Opens the embedding model of a run: metered, and behind the cache of vectors.

use std::num::NonZeroU32;
use std::sync::Arc;

use anyhow::Result;
use evals_models::{Embedder, TextKind};
use evals_settings::EmbedderKind;
use evals_stores::store::{RefreshPolicy, Writes};
use evals_stores::vectors::{CachedEmbedder, EmbeddingStore};

use super::opener::Opener;
use crate::choices;
use crate::models::{ConfiguredEmbedder, Servers, embedder};
use crate::options::{Refresh, RunArgs};
use crate::session::Session;
use crate::spending::MeteredEmbedder;

/// How to use cached vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VectorCache {
    /// Neither reads nor writes them.
    Off,
    Reuse,
    /// Embeds questions again, so that repetitions measure the time of embedding.
    RefreshQueries,
    Refresh,
}

impl VectorCache {
    pub(crate) fn of(arguments: &RunArgs) -> Self {
        let (no_cache, refresh) = (arguments.judging.no_cache, arguments.qa.refresh);
        Self::with(no_cache, refresh, arguments.control.repeat)
    }

    /// The same for the options of a command other than `run`.
    pub(crate) fn with(no_cache: bool, refresh: Option<Refresh>, repeat: NonZeroU32) -> Self {
        if no_cache {
            Self::Off
        } else if refresh == Some(Refresh::All) {
            Self::Refresh
        } else if repeat.get() > 1 {
            Self::RefreshQueries
        } else {
            Self::Reuse
        }
    }
}

/// Opens the embedding model of the settings.
pub(crate) async fn open(
    opener: &mut Opener<'_, '_>,
    cache: VectorCache,
) -> Result<Arc<dyn Embedder>> {
    let model = &opener.models.embedder;
    let printer = opener.session.printer;
    let embedder = embedder::open(printer, opener.resolved, model, opener.servers).await?;
    let price = choices::prices(opener.resolved).of(embedder.identity());
    let embedder = MeteredEmbedder::new(embedder, price, opener.spending);
    let embedder: Arc<dyn Embedder> = Arc::new(embedder);
    if cache == VectorCache::Off {
        return Ok(embedder);
    }
    let Some((cached, writes)) = cached(opener.session, opener.servers, model, &embedder).await?
    else {
        return Ok(embedder);
    };
    opener.interruption.track_writes(&writes);
    Ok(Arc::new(match cache {
        VectorCache::Off | VectorCache::Reuse => cached,
        VectorCache::RefreshQueries => cached.with_query_policy(RefreshPolicy::Refresh),
        VectorCache::Refresh => cached.with_policy(RefreshPolicy::Refresh),
    }))
}

/// Puts the cache of vectors before an opened model, and counts the writes to the cache. `None` for an embedded model, because it is faster
/// than a lookup.
pub async fn cached(
    session: &Session<'_>,
    servers: &Servers<'_>,
    model: &ConfiguredEmbedder,
    embedder: &Arc<dyn Embedder>,
) -> Result<Option<(CachedEmbedder, Writes)>> {
    match model.settings.kind {
        EmbedderKind::Embedded(_) => return Ok(None),
        // The cache may hold the questions that warm up the search, so the model is warmed up here.
        EmbedderKind::Local(_) => {
            embedder.embed(&["warm-up"], TextKind::Query).await?;
        }
        // The request for the dimension has warmed up the server.
        EmbedderKind::Ollama(_) | EmbedderKind::OpenAi(_) => {}
    }
    let path = session.directories.vectors();
    let store = EmbeddingStore::open_watched(path, session.printer.watch()).await?;
    let writes = store.writes().clone();
    let label = model.label(embedder.identity());
    let cached = CachedEmbedder::new(Arc::clone(embedder), store).labelled(label);
    Ok(Some(match servers.vector_cache_address(model)? {
        Some(place) => (cached.at(&place), writes),
        None => (cached, writes),
    }))
}
