//! Checks the embedding model.

use std::sync::Arc;

use anyhow::Result;
use evals_data::{Hub, HubSettings};
use evals_models::Embedder;
use evals_pipeline::models::{ConfiguredEmbedder, ConfiguredModels, LocalModel, Servers, embedder};
use evals_pipeline::session::Session;

use super::finding::Finding;
use crate::settings::{EmbedderKind, Resolved};

pub(super) async fn check(
    session: &Session<'_>,
    servers: &mut Servers<'_>,
    resolved: &Resolved,
    models: &ConfiguredModels,
) -> Finding {
    match open(session, servers, resolved, &models.embedder).await {
        Ok(Some(embedder)) => Finding::Good(format!(
            "embedder: {}, {} dimensions",
            embedder.identity(),
            embedder.dimension()
        )),
        Ok(None) => Finding::Note(format!(
            "embedder: `{}` is not in the hub cache; the first run that needs vectors downloads it",
            models.embedder.settings.name
        )),
        Err(error) => Finding::Bad {
            what: format!("embedder: {error:#}"),
            remedy: "profiles without embeddings, such as --profile bm25, still work".to_owned(),
        },
    }
}

/// Opens the embedding model; `None` if it has to be downloaded first, because doctor downloads nothing.
async fn open(
    session: &Session<'_>,
    servers: &mut Servers<'_>,
    resolved: &Resolved,
    model: &ConfiguredEmbedder,
) -> Result<Option<Arc<dyn Embedder>>> {
    embedder::check(resolved, model)?;
    Ok(match &model.settings.kind {
        EmbedderKind::Local(local) => {
            let settings = HubSettings::from_env();
            let may_fetch = !settings.offline;
            let cache = Hub::new(HubSettings {
                offline: true,
                ..settings
            });
            let local = LocalModel::embedder(resolved, model, local)?;
            if may_fetch && !local.is_here(&cache) {
                return Ok(None);
            }
            Some(local.open(session.printer, &cache).await?)
        }
        EmbedderKind::Embedded(_) | EmbedderKind::Ollama(_) | EmbedderKind::OpenAi(_) => {
            Some(embedder::open(session.printer, resolved, model, servers).await?)
        }
    })
}
