use std::path::Path;
use std::sync::Arc;

use super::error::LocalError;
use super::folder::Folder;
use super::late_interaction::{LateInteractionReranker, is_late_interaction};
use super::reranker::LocalReranker;
use super::settings::LocalSettings;
use evals_models::Reranker;

/// Opens the reranker that a folder holds: a model of late interaction where its files say so, else a cross-encoder.
pub fn open_reranker(
    path: impl AsRef<Path>,
    settings: &LocalSettings,
) -> Result<Arc<dyn Reranker>, LocalError> {
    let path = path.as_ref();
    Ok(if is_late_interaction(&Folder::open(path)?)? {
        Arc::new(LateInteractionReranker::open(path, settings)?)
    } else {
        Arc::new(LocalReranker::open(path, settings)?)
    })
}
