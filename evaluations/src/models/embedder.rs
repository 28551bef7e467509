//! Checks and opens the embedding model, wherever it runs.

use std::sync::Arc;

use anyhow::Result;
use evals_models::Embedder;

use super::configured::ConfiguredModel;
use super::embedded;
use super::fields;
use super::kind::ModelKind;
use super::local::LocalModel;
use super::servers::Servers;
use crate::downloads;
use crate::settings::{Resolved, SettingsError};
use crate::terminal::Printer;

/// Refuses settings that no embedding model can be opened with. Opens nothing and asks no server.
pub(crate) fn check(resolved: &Resolved, model: &ConfiguredModel) -> Result<(), SettingsError> {
    match model.kind {
        ModelKind::Embedded => embedded::embedder(resolved, model).map(drop),
        ModelKind::Local => LocalModel::of(resolved, model).map(drop),
        ModelKind::Ollama
        | ModelKind::OpenAi
        | ModelKind::HttpReranker
        | ModelKind::LlmReranker(_) => fields::check(resolved, model),
    }
}

/// Opens the model. Fetches its files first where they are missing.
pub(crate) async fn open(
    printer: &Printer,
    resolved: &Resolved,
    model: &ConfiguredModel,
    servers: &mut Servers<'_>,
) -> Result<Arc<dyn Embedder>> {
    Ok(match model.kind {
        ModelKind::Embedded => embedded::embedder(resolved, model)?,
        ModelKind::Local => {
            let local = LocalModel::of(resolved, model)?;
            local.open(printer, &downloads::hub()).await?
        }
        ModelKind::Ollama
        | ModelKind::OpenAi
        | ModelKind::HttpReranker
        | ModelKind::LlmReranker(_) => servers.embedder(model).await?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::ConfiguredModels;
    use crate::settings::{Layer, resolve};

    #[test]
    fn a_model_behind_a_server_has_the_settings_of_a_server() {
        let checked = |field: &str| {
            let set = [
                "embeddings.model.provider=ollama",
                "embeddings.model.name=m",
                field,
            ];
            let layer = Layer::assignments(&set.map(str::to_owned)).unwrap();
            let resolved = resolve(layer.into_iter().collect()).unwrap();
            let models = ConfiguredModels::of(&resolved.settings);
            check(&resolved, &models.embedder).map_err(|error| error.to_string())
        };
        assert_eq!(
            checked("embeddings.model.pooling=cls").unwrap_err(),
            "`--set`: bad value for `embeddings.model.pooling`: embedding models of `ollama` do not have this setting; those \
             of `local` do"
        );
        assert_eq!(checked("embeddings.model.query_prefix=query"), Ok(()));
    }
}
