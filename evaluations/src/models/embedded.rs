//! The models that are part of this program: an embedder, an answerer and a judge.

use std::sync::Arc;

use evals_local::StaticEmbedder;

use super::configured::ConfiguredModel;
use super::fields;
use super::kind::ModelKind;
use crate::settings::{Resolved, Role, SettingsError};

/// The name of the embedded judge.
pub(crate) const OVERLAP: &str = "overlap";

/// Opens the embedded embedder with as many dimensions as the settings ask for.
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

/// Refuses the name of an embedded model that does not exist. Models of other kinds pass.
///
/// The settings may name models that a command does not use, so each command checks only those that it uses.
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
            "`--set`: bad value for `embeddings.model.base_url`: embedding models of `embedded` do not have this setting; those \
             of `ollama` and `openai` do"
        );
        assert_eq!(
            refused(&["embeddings.model.dtype=int8"]),
            "`--set`: bad value for `embeddings.model.dtype`: embedding models of `embedded` do not have this setting; those \
             of `local` do"
        );
        assert!(
            refused(&["embeddings.model.vector_dim=1000"])
                .contains("`embeddings.model.vector_dim`")
        );
        assert!(opened(&["embeddings.model.vector_dim=64"]).is_ok());
    }
}
