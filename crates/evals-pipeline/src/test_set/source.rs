//! Finds the documents that a test set is about.

use std::path::Path;

use anyhow::Result;
use evals_data::{CatalogError, Manifest};

use crate::session::Session;

/// The documents that `source` names: those of a manifest, alone or in a folder, which need not have questions, of a dataset, or the texts of
/// a folder.
pub(super) fn find(session: &Session<'_>, source: &str) -> Result<Manifest> {
    let path = Path::new(source);
    let extension = path.extension().and_then(|it| it.to_str());
    if matches!(extension, Some("yaml" | "yml")) {
        return Ok(Manifest::read_documents(path)?);
    }
    match session.manifest(source) {
        Ok(manifest) => Ok(manifest.documents_only()),
        Err(error) => match error.downcast_ref() {
            Some(CatalogError::Unknown { .. } | CatalogError::Folder { .. }) if path.exists() => {
                Ok(Manifest::of_texts(path)?)
            }
            Some(CatalogError::Manifest(_)) if path.is_dir() => {
                Ok(Manifest::read_documents(&path.join(Manifest::FILE))?)
            }
            _ => Err(error),
        },
    }
}
