//! Whether a folder holds a late-interaction model, and in which of the two layouts.

use serde::Deserialize;

use super::conventions::Conventions;
use super::{colbert, pylate};
use crate::error::LocalError;
use crate::folder::Folder;

/// The keys of `config.json` that mark a late-interaction model.
#[derive(Debug, Default, Deserialize)]
struct Marks {
    architectures: Option<Vec<String>>,
}

impl Conventions {
    /// Reads the files of either layout.
    pub(super) fn read(folder: &Folder) -> Result<Self, LocalError> {
        match pylate::conventions(folder)? {
            Some(conventions) => Ok(conventions),
            None => colbert::conventions(folder),
        }
    }
}

/// Whether the files of a folder say that it holds a late-interaction model.
pub(crate) fn is_late_interaction(folder: &Folder) -> Result<bool, LocalError> {
    let marks: Marks = folder.json("config.json")?.unwrap_or_default();
    let mut architectures = marks.architectures.iter().flatten();
    let is_colbert = architectures.any(|name| name == "HF_ColBERT");
    Ok(
        is_colbert
            || folder.path(colbert::FILE).is_file()
            || pylate::conventions(folder)?.is_some(),
    )
}
