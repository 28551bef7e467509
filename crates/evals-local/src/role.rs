//! Whether a model is an embedder or a reranker, by the files in its folder.

use serde::Deserialize;

use crate::error::LocalError;
use crate::family::Family;
use crate::folder::{Folder, modules};
use crate::settings::{LocalSettings, RerankPrompt};

/// Ends the names of cross-encoder architectures. Other heads tell nothing: embedders are published as language models too.
const CLASSIFIER: &str = "ForSequenceClassification";

#[derive(Debug, Deserialize)]
struct Config {
    architectures: Option<Vec<String>>,
}

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
        return Err(folder.reranker_error("`LogitScore` in `modules.json`"));
    }
    let config: Config = folder.required("config.json")?;
    let mut architectures = config.architectures.into_iter().flatten();
    if let Some(architecture) = architectures.find(|name| name.ends_with(CLASSIFIER)) {
        return Err(folder.classifier_error(architecture));
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
        Some(name) => Err(folder.reranker_error(format!("its name `{name}`"))),
        None => Ok(()),
    }
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
    if settings.instruction.is_some() {
        return Err(folder.unused_setting_error("instruction"));
    }
    if settings.rerank_prompt.is_some() {
        return Err(folder.unused_setting_error("rerank_prompt"));
    }
    Ok(())
}
