//! What a folder's own files say that its model is for.

use serde::Deserialize;

use super::error::LocalError;
use super::families::Family;
use super::folder::Folder;
use super::modules::Module;
use super::settings::LocalSettings;

/// What the architectures of cross-encoders are called. Embedders are published as language models too, with or without masks.
const CLASSIFIER: &str = "ForSequenceClassification";

#[derive(Debug, Deserialize)]
struct Config {
    #[serde(default)]
    architectures: Vec<String>,
}

/// Refuses a classifier as embedder: its tokens could be averaged, which they were not trained for.
///
/// A folder that states how tokens are pooled is an embedder whatever its architecture.
pub(super) fn check_embedder(folder: &Folder) -> Result<(), LocalError> {
    let modules: Option<Vec<Module>> = folder.json("modules.json")?;
    let mut modules = modules.iter().flatten();
    if modules.any(|module| module.name() == "Pooling") {
        return Ok(());
    }
    let config: Config = folder.required("config.json")?;
    let mut architectures = config.architectures.into_iter();
    match architectures.find(|name| name.ends_with(CLASSIFIER)) {
        Some(architecture) => Err(folder.classifier(architecture)),
        None => Ok(()),
    }
}

/// Refuses families without a classifier, and settings for language models where the folder holds none.
pub(super) fn check_reranker(folder: &Folder, settings: &LocalSettings) -> Result<(), LocalError> {
    if Family::of_reranker(folder)?.is_decoder() {
        return Ok(());
    }
    check_unprompted(folder, settings)
}

/// Refuses settings that only a language model reads.
pub(super) fn check_unprompted(
    folder: &Folder,
    settings: &LocalSettings,
) -> Result<(), LocalError> {
    if settings.instruction.is_some() {
        return Err(folder.unread("instruction"));
    }
    if settings.rerank_prompt.is_some() {
        return Err(folder.unread("rerank_prompt"));
    }
    Ok(())
}
