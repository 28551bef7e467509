//! Reports a first word that is neither a command nor a dataset.

use std::ffi::OsStr;

use evals_data::{Catalog, CatalogError};
use evals_messages::nearest;
use evals_runs::directories::Directories;

use crate::cli;

/// The error for `word` as the first word of a command line; `None` if it names a dataset, even an unusable one.
pub(crate) fn unknown_word(word: &OsStr) -> Option<anyhow::Error> {
    // If the folders cannot be determined, the command reports it.
    let directories = Directories::from_env().ok()?;
    let name = word.to_string_lossy();
    let found = Catalog::new(directories.manifests()).find(&name);
    let unknown = found
        .err()
        .filter(|error| matches!(error, CatalogError::Unknown { .. }))?;
    let message = format!("`{name}` is neither a command nor a dataset");
    Some(anyhow::Error::from(unknown).context(message))
}

/// The commands similar to a word, such as `runs show` for `shwo`.
pub(crate) fn nearest_commands(word: &str) -> Vec<String> {
    let commands = cli::paths();
    let nearest = nearest::all(word, commands.iter().flat_map(|path| spellings(path)));
    let is_near = |path: &&String| spellings(path).any(|it| nearest.contains(&it));
    commands.iter().filter(is_near).cloned().collect()
}

/// The ways to write a command: its last word, or all its words.
fn spellings(path: &str) -> impl Iterator<Item = &str> {
    let last = path.rsplit(' ').take(1);
    last.chain(path.contains(' ').then_some(path))
}
