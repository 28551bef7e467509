//! Translates settings files of haiku.rag, another program for retrieval-augmented generation.
//!
//! Its files have the same sections as this program's. They come in two layouts. In the first, a section names its model by
//! `provider` and `model`. In the second, which is also this program's, it has a mapping `model` with `provider` and `name`.

mod keys;
mod models;
mod variables;

use evals_yaml::Tree;
use std::env;

use super::known::UnknownKey;

pub(super) use self::keys::{is_haiku_key, mark};
pub(super) use self::variables::MissingVariable;

/// The name of haiku.rag's settings file.
pub(super) const FILE_NAME: &str = "haiku.rag.yaml";

/// An environment variable from which haiku.rag, too, takes the address of Ollama.
const OLLAMA_VARIABLE: &str = "OLLAMA_BASE_URL";

/// Settings of haiku.rag translated to those of this program.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) tree: Tree,
    /// Keys that were removed because they would mean something else here.
    pub(super) removed: Vec<UnknownKey>,
}

/// Translates `tree` to the settings of this program. Keys without a translation stay where they are.
pub(super) fn translate(mut tree: Tree) -> Result<Translated, MissingVariable> {
    let others = ["prompts", "providers.docling_serve"];
    let removed = others.into_iter().filter_map(|path| {
        let entry = tree.take(path)?;
        Some(UnknownKey {
            path: path.to_owned(),
            line: entry.line,
            nearest: None,
        })
    });
    let removed = removed.collect();
    variables::expand(&mut tree)?;
    let from_environment = env::var(OLLAMA_VARIABLE).ok().filter(|url| !url.is_empty());
    if let Some(url) = from_environment {
        put_if_absent(
            &mut tree,
            "providers.ollama.base_url",
            None,
            Tree::Leaf(url.into()),
        );
    }
    models::translate(&mut tree);
    // Early releases had the number of neighbouring chunks in `processing`.
    if let Some(radius) = tree.take("processing.context_chunk_radius") {
        put_if_absent(
            &mut tree,
            "search.context_radius",
            radius.line,
            radius.value,
        );
    }
    Ok(Translated { tree, removed })
}

/// Sets the value at `path` if there is none.
fn put_if_absent(tree: &mut Tree, path: &str, line: Option<u64>, value: Tree) {
    if tree
        .get(path)
        .is_none_or(|entry| entry.value == Tree::default())
    {
        tree.put(path, line, value);
    }
}

#[cfg(test)]
mod tests;
