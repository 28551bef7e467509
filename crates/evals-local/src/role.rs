//! What a folder's own files say that its model is for.

use serde::Deserialize;

use crate::error::LocalError;
use crate::family::Family;
use crate::folder::{Folder, modules};
use crate::settings::{LocalSettings, RerankPrompt};

/// What the architectures of cross-encoders are called. Embedders are published as language models too, with or without masks.
const CLASSIFIER: &str = "ForSequenceClassification";

#[derive(Debug, Deserialize)]
struct Config {
    architectures: Option<Vec<String>>,
}

/// Refuses rerankers as embedders: their tokens could be averaged, which they were not trained for.
///
/// A folder that states how tokens are pooled is an embedder whatever else it is.
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

/// Refuses language models that were published as rerankers, which only their names tell.
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

/// Refuses families without a classifier, and settings for language models where the folder holds none.
pub(crate) fn check_reranker(folder: &Folder, settings: &LocalSettings) -> Result<(), LocalError> {
    if Family::of_reranker(folder)?.is_decoder() {
        return Ok(());
    }
    check_unprompted(folder, settings)
}

/// Refuses settings that only a language model reads.
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
