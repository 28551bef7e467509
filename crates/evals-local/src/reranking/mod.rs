//! Rerankers: models that score a text for a query.

mod classifier;
mod cross_encoder;
mod last_token;
mod late_interaction;
mod pair_reading;
mod prompt;
mod scores;
mod scoring;

use std::path::Path;
use std::sync::Arc;

pub use cross_encoder::LocalReranker;
pub use late_interaction::LateInteractionReranker;
pub(crate) use late_interaction::is_late_interaction;

use crate::error::LocalError;
use crate::folder::Folder;
use crate::settings::LocalSettings;
use evals_models::Reranker;

/// Opens the reranker that a folder holds: a [`LateInteractionReranker`] if its files say so, else a [`LocalReranker`].
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
