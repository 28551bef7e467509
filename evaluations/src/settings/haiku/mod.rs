//! Translates settings files of haiku.rag, another program for retrieval-augmented generation.
//!
//! Its files have the same sections as this program's. They come in two layouts. In the first, a section names its model by
//! `provider` and `model`. In the second, which is also this program's, it has a mapping `model` with `provider` and `name`.

mod keys;
mod models;
mod rerankers;
mod section;
mod variables;

use self::keys::Mark;
use self::models::Addresses;
use self::section::Section;
use super::known::UnknownKey;
use super::tree::Tree;

pub(super) use self::keys::{is_haiku_key, mark};
pub(super) use self::variables::MissingVariable;

/// The name of haiku.rag's settings file.
pub(super) const FILE_NAME: &str = "haiku.rag.yaml";

/// Settings of haiku.rag translated to those of this program.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) tree: Tree,
    /// Keys that were removed because they would mean something else here.
    pub(super) removed: Vec<UnknownKey>,
}

impl Mark {
    /// The warning that a file is read as one of haiku.rag.
    pub(super) fn reason(&self) -> String {
        let line = self
            .line
            .map_or_else(String::new, |line| format!(" on line {line}"));
        format!("read as a haiku.rag file because of `{}`{line}", self.path)
    }
}

/// Translates `tree` to the settings of this program. Keys without a translation stay where they are.
pub(super) fn translate(mut tree: Tree) -> Result<Translated, MissingVariable> {
    let mut removed = Vec::new();
    if let Some(mut providers) = Section::of(&mut tree, "providers")
        && let Some(serve) = providers.take("docling_serve")
    {
        removed.push(UnknownKey {
            path: "providers.docling_serve".to_owned(),
            line: serve.line,
            nearest: None,
        });
    }
    variables::expand(&mut tree)?;
    let addresses = Addresses::take(&mut tree);
    if let Some(mut embeddings) = Section::of(&mut tree, "embeddings") {
        models::nest(&mut embeddings, &["vector_dim", "base_url"]);
        models::embedding(&mut embeddings, &addresses);
    }
    if let Some(mut qa) = Section::of(&mut tree, "qa") {
        models::nest(&mut qa, &["base_url"]);
        models::chat(&mut qa, "model", &addresses);
    }
    if let Some(mut evaluations) = Section::of(&mut tree, "evaluations") {
        models::chat(&mut evaluations, "judge", &addresses);
    }
    if let Some(mut reranking) = Section::of(&mut tree, "reranking") {
        models::nest(&mut reranking, &["base_url"]);
        rerankers::translate(&mut reranking, &addresses);
    }
    context_radius(&mut tree);
    Ok(Translated { tree, removed })
}

/// Moves the number of neighbouring chunks to `search`. Early releases had it in `processing`.
fn context_radius(tree: &mut Tree) {
    let Some(radius) = Section::of(tree, "processing")
        .and_then(|mut processing| processing.take("context_chunk_radius"))
    else {
        return;
    };
    let line = radius.line;
    let mut search = Section::of_or_new(tree, "search", line);
    search.put_if_absent("context_radius", line, radius.value);
}

#[cfg(test)]
mod tests;
