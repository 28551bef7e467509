//! The embedding model of a run, and the store of vectors before it.

use std::sync::Arc;

use anyhow::Result;
use evals_models::{Embedder, TextKind};
use evals_stores::store::RefreshPolicy;
use evals_stores::vectors::{CachedEmbedder, EmbeddingStore};

use super::Interruption;
use super::plan::Plan;
use crate::choices;
use crate::cli::{Refresh, RunArgs};
use crate::command::Session;
use crate::models::{ModelKind, Servers, embedder};
use crate::spending::{MeteredEmbedder, Spending};

/// Opens the model, where a profile compares vectors.
pub(super) async fn open(
    session: &Session<'_>,
    arguments: &RunArgs,
    plan: &Plan,
    servers: &mut Servers<'_>,
    interruption: &Interruption,
    spending: &Arc<Spending>,
) -> Result<Option<Arc<dyn Embedder>>> {
    if !plan.needs_embeddings {
        return Ok(None);
    }
    let model = &plan.models.embedder;
    let place = servers.undigested_place(model)?;
    let embedder = embedder::open(session.printer, &plan.resolved, model, servers).await?;
    let price = choices::prices(&plan.resolved).of(embedder.identity());
    let embedder: Arc<dyn Embedder> = Arc::new(MeteredEmbedder::new(embedder, price, spending));
    if arguments.qa.no_cache {
        return Ok(Some(embedder));
    }
    match model.kind {
        // It is quicker than any look at a file.
        ModelKind::Embedded => return Ok(Some(embedder)),
        // The store may have what the search is warmed up with.
        ModelKind::Local => {
            embedder.embed(&["warm-up"], TextKind::Query).await?;
        }
        // The server was asked for the dimension, which warmed it up.
        ModelKind::Ollama
        | ModelKind::OpenAi
        | ModelKind::HttpReranker
        | ModelKind::LlmReranker(_) => {}
    }
    let (path, watch) = (session.directories.vectors(), session.printer.watch());
    let store = EmbeddingStore::open_watched(path, watch).await?;
    interruption.mind_writes(store.writes());
    let label = model.label(embedder.identity());
    let mut cached = CachedEmbedder::new(embedder, store).labelled(label);
    if let Some(place) = place {
        cached = cached.at(&place);
    }
    if arguments.qa.refresh == Some(Refresh::All) {
        cached = cached.with_policy(RefreshPolicy::Refresh);
    } else if arguments.control.repeat.get() > 1 {
        cached = cached.with_query_policy(RefreshPolicy::Refresh);
    }
    Ok(Some(Arc::new(cached)))
}
