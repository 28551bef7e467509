//! Late interaction: rerankers that compare every token of a query with every token of a text, as `ColBERT` does.

mod colbert;
mod conventions;
mod marked;
mod max_sim;
mod pylate;
mod scorer;
mod special_tokens;

pub(super) use scorer::LateInteraction;

use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;

/// Whether the files of a folder say that it holds a late-interaction model.
pub(crate) fn is_late_interaction(folder: &Folder) -> Result<bool, LocalError> {
    let mut architectures = Family::architectures(folder)?.into_iter();
    let is_colbert = architectures.any(|name| name == "HF_ColBERT");
    Ok(
        is_colbert
            || folder.path(colbert::FILE).is_file()
            || pylate::conventions(folder)?.is_some(),
    )
}
