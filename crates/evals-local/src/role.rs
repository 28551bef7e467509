//! Whether a model is an embedder or a reranker, by the files in its folder.

use crate::error::LocalError;
use crate::family::Family;
use crate::folder::{Folder, modules};
use crate::settings::{LocalSettings, RerankPrompt};

/// Ends the names of cross-encoder architectures. Other heads tell nothing: embedders are published as language models too.
const CLASSIFIER: &str = "ForSequenceClassification";

/// Refuses to embed with a reranker. Averaging its tokens would work, but it was not trained for that.
///
/// A folder that states a pooling is an embedder in any case.
pub(crate) fn check_embedder(folder: &Folder, settings: &LocalSettings) -> Result<(), LocalError> {
    let modules = modules(folder)?;
    let has = |name: &str| modules.iter().any(|module| module.name() == name);
    if has("Pooling") {
        return Ok(());
    }
    if has("LogitScore") {
        return Err(reranker_error(folder, "`LogitScore` in `modules.json`"));
    }
    let mut architectures = Family::architectures(folder)?.into_iter();
    if let Some(architecture) = architectures.find(|name| name.ends_with(CLASSIFIER)) {
        return Err(folder.refused(format!(
            "holds a classifier, `{architecture}`, which has no vector for a text; use it as a reranker"
        )));
    }
    check_name(folder, settings)
}

/// Refuses language models that were published as rerankers. Only their names show it.
fn check_name(folder: &Folder, settings: &LocalSettings) -> Result<(), LocalError> {
    if !Family::read(folder)?.is_decoder() {
        return Ok(());
    }
    let mut names = [Some(folder.name()), settings.name.as_deref()]
        .into_iter()
        .flatten();
    match names.find(|name| RerankPrompt::of_model(name).is_some()) {
        Some(name) => Err(reranker_error(folder, &format!("its name `{name}`"))),
        None => Ok(()),
    }
}

fn reranker_error(folder: &Folder, sign: &str) -> LocalError {
    folder.refused(format!(
        "holds a reranker, as {sign} shows; it has no vector for a text: use it as `reranking.model`"
    ))
}

/// Refuses families that cannot rerank, and settings that only language models use, if the model is not one.
pub(crate) fn check_reranker(folder: &Folder, settings: &LocalSettings) -> Result<(), LocalError> {
    if Family::of_reranker(folder)?.is_decoder() {
        return Ok(());
    }
    check_unprompted(folder, settings)
}

/// Refuses settings that only language models use.
pub(crate) fn check_unprompted(
    folder: &Folder,
    settings: &LocalSettings,
) -> Result<(), LocalError> {
    let setting = match (&settings.instruction, settings.rerank_prompt) {
        (Some(_), _) => "instruction",
        (None, Some(_)) => "rerank_prompt",
        (None, None) => return Ok(()),
    };
    let folder = folder.path.display();
    let reason = format!(
        "`{folder}` holds a reranker that does not use `{setting}`; only language models do: remove the setting"
    );
    Err(LocalError::Setting { setting, reason })
}
