//! Checks and opens the embedding model, wherever it runs.

use std::sync::Arc;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_models::Embedder;
use evals_settings::{EmbeddedEmbedderSettings, EmbedderKind, Resolved, SettingsError};
use evals_terminal::Printer;

use super::configured::ConfiguredEmbedder;
use super::local::LocalModel;
use super::servers::Servers;
use crate::downloads;

/// Refuses settings that no embedding model can be opened with. Opens nothing and asks no server.
pub fn check(resolved: &Resolved, model: &ConfiguredEmbedder) -> Result<(), SettingsError> {
    match &model.settings.kind {
        EmbedderKind::Embedded(settings) => embedded(resolved, model, settings).map(drop),
        EmbedderKind::Local(local) => LocalModel::embedder(resolved, model, local).map(drop),
        EmbedderKind::Ollama(_) | EmbedderKind::OpenAi(_) => Ok(()),
    }
}

/// Opens the model. Fetches its files first where they are missing.
pub async fn open(
    printer: &Printer,
    resolved: &Resolved,
    model: &ConfiguredEmbedder,
    servers: &mut Servers<'_>,
) -> Result<Arc<dyn Embedder>> {
    Ok(match &model.settings.kind {
        EmbedderKind::Embedded(settings) => embedded(resolved, model, settings)?,
        EmbedderKind::Local(local) => {
            let local = LocalModel::embedder(resolved, model, local)?;
            local.open(printer, &downloads::hub()).await?
        }
        EmbedderKind::Ollama(_) | EmbedderKind::OpenAi(_) => servers.embedder(model).await?,
    })
}

/// Opens the embedded model with as many dimensions as the settings ask for.
fn embedded(
    resolved: &Resolved,
    model: &ConfiguredEmbedder,
    settings: &EmbeddedEmbedderSettings,
) -> Result<Arc<StaticEmbedder>, SettingsError> {
    model.check_embedded_name(resolved)?;
    let embedder = StaticEmbedder::static_minilm();
    let embedder = match settings.vector_dim {
        None => embedder,
        Some(dimension) => embedder
            .with_dimension(dimension.get())
            .map_err(|error| model.bad_field(resolved, "vector_dim", &error))?,
    };
    Ok(Arc::new(embedder))
}

/// The model, if it is the embedded one. Any other needs a request to a server, or has to be loaded.
pub(crate) fn at_hand(
    resolved: &Resolved,
    model: &ConfiguredEmbedder,
) -> Option<Arc<dyn Embedder>> {
    match &model.settings.kind {
        EmbedderKind::Embedded(settings) => Some(embedded(resolved, model, settings).ok()?),
        EmbedderKind::Local(_) | EmbedderKind::Ollama(_) | EmbedderKind::OpenAi(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::ConfiguredModels;
    use evals_settings::{Layer, resolve};

    fn checked(assignments: &[&str]) -> Result<(), String> {
        let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
        let layer = Layer::assignments(&assignments).unwrap();
        let resolved = resolve(layer.into_iter().collect()).map_err(|error| error.to_string())?;
        let models = ConfiguredModels::of(&resolved.settings);
        check(&resolved, &models.embedder).map_err(|error| error.to_string())
    }

    #[test]
    fn an_embedder_that_is_not_there_names_its_setting() {
        let refused = |assignment: &str| checked(&[assignment]).unwrap_err();
        assert_eq!(
            refused("embeddings.model.name=x"),
            "`--set`: bad value for `embeddings.model.name`: the only embedded model is `static-minilm`"
        );
        assert_eq!(
            refused("embeddings.model.base_url=http://localhost"),
            "`--set`: bad value for `embeddings.model.base_url`: embedding models of `embedded` do not have this setting; those \
             of `ollama` and `openai` do"
        );
        assert_eq!(
            refused("embeddings.model.dtype=int8"),
            "`--set`: bad value for `embeddings.model.dtype`: embedding models of `embedded` do not have this setting; those \
             of `local` do"
        );
        assert!(
            refused("embeddings.model.vector_dim=1000").contains("`embeddings.model.vector_dim`")
        );
        assert_eq!(checked(&["embeddings.model.vector_dim=64"]), Ok(()));
    }

    #[test]
    fn a_model_behind_a_server_has_the_settings_of_a_server() {
        let checked = |field: &str| {
            checked(&[
                "embeddings.model.provider=ollama",
                "embeddings.model.name=m",
                field,
            ])
        };
        assert_eq!(
            checked("embeddings.model.pooling=cls").unwrap_err(),
            "`--set`: bad value for `embeddings.model.pooling`: embedding models of `ollama` do not have this setting; those \
             of `local` do"
        );
        assert_eq!(checked("embeddings.model.query_prefix=query"), Ok(()));
    }
}
