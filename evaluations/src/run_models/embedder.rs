//! Opens the embedding model of a run: metered, and behind the cache of vectors.

use std::sync::Arc;

use anyhow::Result;
use evals_models::{Embedder, TextKind};
use evals_stores::store::RefreshPolicy;
use evals_stores::vectors::{CachedEmbedder, EmbeddingStore};

use super::opener::Opener;
use crate::choices;
use crate::cli::{Refresh, RunArgs};
use crate::models::{ModelKind, embedder};
use crate::spending::MeteredEmbedder;

/// How to use cached vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VectorCache {
    /// Neither reads nor writes them.
    Off,
    Reuse,
    /// Embeds questions again, so that repetitions measure the time of embedding.
    RefreshQueries,
    Refresh,
}

impl VectorCache {
    fn of(arguments: &RunArgs) -> Self {
        if arguments.qa.no_cache {
            Self::Off
        } else if arguments.qa.refresh == Some(Refresh::All) {
            Self::Refresh
        } else if arguments.control.repeat.get() > 1 {
            Self::RefreshQueries
        } else {
            Self::Reuse
        }
    }
}

/// Opens the embedding model of the settings.
pub(crate) async fn open(
    opener: &mut Opener<'_, '_>,
    arguments: &RunArgs,
) -> Result<Arc<dyn Embedder>> {
    let model = &opener.models.embedder;
    let place = opener.servers.vector_cache_address(model)?;
    let printer = opener.session.printer;
    let embedder = embedder::open(printer, opener.resolved, model, opener.servers).await?;
    let price = choices::prices(opener.resolved).of(embedder.identity());
    let embedder = MeteredEmbedder::new(embedder, price, opener.spending);
    let embedder: Arc<dyn Embedder> = Arc::new(embedder);
    let cache = VectorCache::of(arguments);
    if cache == VectorCache::Off {
        return Ok(embedder);
    }
    match model.kind {
        // Embedding is faster than a lookup.
        ModelKind::Embedded => return Ok(embedder),
        // The cache may hold the questions that warm up the search, so the model is warmed up here.
        ModelKind::Local => {
            embedder.embed(&["warm-up"], TextKind::Query).await?;
        }
        // The request for the dimension has warmed up the server.
        ModelKind::Ollama
        | ModelKind::OpenAi
        | ModelKind::HttpReranker
        | ModelKind::LlmReranker(_) => {}
    }
    let path = opener.session.directories.vectors();
    let store = EmbeddingStore::open_watched(path, printer.watch()).await?;
    opener.interruption.track_writes(store.writes());
    let label = model.label(embedder.identity());
    let mut cached = CachedEmbedder::new(embedder, store).labelled(label);
    if let Some(place) = place {
        cached = cached.at(&place);
    }
    Ok(Arc::new(match cache {
        VectorCache::Off | VectorCache::Reuse => cached,
        VectorCache::RefreshQueries => cached.with_query_policy(RefreshPolicy::Refresh),
        VectorCache::Refresh => cached.with_policy(RefreshPolicy::Refresh),
    }))
}
