//! A first word that is neither a command nor a dataset.

use std::ffi::OsStr;

use evals_data::{Catalog, CatalogError};
use evals_messages::nearest;

use crate::cli;
use crate::directories::Directories;

/// What is wrong with `word` as the first of a command line; `None` where it names a dataset, be it one that cannot be used.
pub(crate) fn unknown_word(word: &OsStr) -> Option<anyhow::Error> {
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

/// The commands that are nearest to a word, if any is near: `runs show` to `shwo`.
pub(super) fn nearest_commands(word: &str) -> Vec<String> {
    let commands = cli::paths();
    let nearest = nearest::all(word, commands.iter().flat_map(|path| spellings(path)));
    let is_near = |path: &&String| spellings(path).any(|it| nearest.contains(&it));
    commands.iter().filter(is_near).cloned().collect()
}

/// How somebody may name a command: by its last word, and by all of them.
fn spellings(path: &str) -> impl Iterator<Item = &str> {
    let last = path.rsplit(' ').take(1);
    last.chain(path.contains(' ').then_some(path))
}
