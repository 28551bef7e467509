//! Checks the embedding model.

use std::sync::Arc;

use anyhow::Result;
use evals_data::{Hub, HubSettings};
use evals_models::Embedder;

use super::finding::Finding;
use crate::models::{ConfiguredModel, ConfiguredModels, LocalModel, ModelKind, Servers, embedder};
use crate::session::Session;
use crate::settings::Resolved;

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
    model: &ConfiguredModel,
) -> Result<Option<Arc<dyn Embedder>>> {
    embedder::check(resolved, model)?;
    Ok(match model.kind {
        ModelKind::Local => {
            let settings = HubSettings::from_env();
            let may_fetch = !settings.offline;
            let cache = Hub::new(HubSettings {
                offline: true,
                ..settings
            });
            let local = LocalModel::of(resolved, model)?;
            if may_fetch && !local.is_here(&cache) {
                return Ok(None);
            }
            Some(local.open(session.printer, &cache).await?)
        }
        ModelKind::Embedded
        | ModelKind::Ollama
        | ModelKind::OpenAi
        | ModelKind::HttpReranker
        | ModelKind::LlmReranker(_) => {
            Some(embedder::open(session.printer, resolved, model, servers).await?)
        }
    })
}
