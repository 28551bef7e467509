//! A first word that is neither a command nor a dataset.

use std::ffi::OsStr;

use evals_data::{Catalog, CatalogError};

use crate::directories::Directories;

/// What is wrong with `word` as the first of a command line; `None` where it names a dataset, be it one that cannot be used.
pub(crate) fn error(word: &OsStr) -> Option<anyhow::Error> {
    // Where the folders cannot be told the command says so.
    let directories = Directories::from_env().ok()?;
    let name = word.to_string_lossy();
    let found = Catalog::new(directories.manifests()).find(&name);
    let unknown = found
        .err()
        .filter(|error| matches!(error, CatalogError::Unknown { .. }))?;
    let message = format!("`{name}` is neither a command nor a dataset");
    Some(anyhow::Error::from(unknown).context(message))
}
