//! The models that are part of this program: one for each role but that of the reranker.

use std::sync::Arc;

use evals_local::StaticEmbedder;

use super::configured::ConfiguredModel;
use super::fields;
use super::kind::ModelKind;
use crate::settings::{Resolved, Role, SettingsError};

/// The embedded judge.
pub(crate) const OVERLAP: &str = "overlap";

/// The embedded embedding model, with as many dimensions as the settings ask for.
pub(crate) fn embedder(
    resolved: &Resolved,
    model: &ConfiguredModel,
) -> Result<Arc<StaticEmbedder>, SettingsError> {
    check_name(resolved, model)?;
    fields::check(resolved, model)?;
    let embedder = StaticEmbedder::static_minilm();
    let embedder = match model.settings.vector_dim {
        None => embedder,
        Some(dimension) => embedder
            .with_dimension(dimension.get())
            .map_err(|error| model.bad_field(resolved, "vector_dim", &error))?,
    };
    Ok(Arc::new(embedder))
}

/// Refuses an embedded model that does not exist. Every other kind of model passes.
///
/// The settings may name any model that a run does not use, so each command asks only about the models that it does use.
pub(crate) fn check_name(
    resolved: &Resolved,
    model: &ConfiguredModel,
) -> Result<(), SettingsError> {
    let (what, only) = match model.role {
        Role::Embedder => ("model", "static-minilm"),
        Role::Answerer => ("answerer", "extractive"),
        Role::Judge => ("judge", OVERLAP),
        Role::Reranker => return Ok(()),
    };
    if model.kind == ModelKind::Embedded && model.settings.name != only {
        let message = format!("the only embedded {what} is `{only}`");
        return Err(model.bad_field(resolved, "name", &message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::ConfiguredModels;
    use crate::settings::{Layer, resolve};

    #[test]
    fn an_embedder_that_is_not_there_names_its_setting() {
        let opened = |assignments: &[&str]| {
            let assignments: Vec<String> = assignments.iter().map(ToString::to_string).collect();
            let layer = Layer::assignments(&assignments).unwrap();
            let resolved = resolve(layer.into_iter().collect()).unwrap();
            let models = ConfiguredModels::of(&resolved.settings);
            embedder(&resolved, &models.embedder).map_err(|error| error.to_string())
        };
        let refused = |assignments: &[&str]| opened(assignments).unwrap_err();
        assert_eq!(
            refused(&["embeddings.model.name=x"]),
            "`--set`: bad value for `embeddings.model.name`: the only embedded model is `static-minilm`"
        );
        assert_eq!(
            refused(&["embeddings.model.base_url=http://localhost"]),
            "`--set`: bad value for `embeddings.model.base_url`: an embedding model of `embedded` has no such setting; an embedding \
             model of `ollama` or `openai` has it"
        );
        assert_eq!(
            refused(&["embeddings.model.dtype=int8"]),
            "`--set`: bad value for `embeddings.model.dtype`: an embedding model of `embedded` has no such setting; an embedding \
             model of `local` has it"
        );
        assert!(
            refused(&["embeddings.model.vector_dim=1000"])
                .contains("`embeddings.model.vector_dim`")
        );
        assert!(opened(&["embeddings.model.vector_dim=64"]).is_ok());
    }
}
