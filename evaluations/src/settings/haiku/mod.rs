//! Files of haiku.rag, another program for retrieval-augmented generation whose settings have the same sections: read as
//! settings of this one.
//!
//! That program had two layouts. In the first a section names its model by `provider` and `model`; in the second, which is
//! also that of this program, by a mapping `model` with `provider` and `name`.

mod keys;
mod models;
mod rerankers;
mod section;
mod variables;

use serde_json::Value;

use self::keys::Mark;
use self::models::Addresses;
use self::section::Section;
use super::known::UnknownKey;
use super::tree::Tree;

pub(super) use self::keys::{belongs, mark};
pub(super) use self::variables::MissingVariable;

/// The name under which haiku.rag looks for its file.
pub(super) const FILE_NAME: &str = "haiku.rag.yaml";

/// Settings of haiku.rag in the words of this program.
#[derive(Debug)]
pub(super) struct Translated {
    pub(super) tree: Tree,
    /// Keys that were taken out because they would mean something else here.
    pub(super) left_out: Vec<UnknownKey>,
}

impl Mark {
    /// How a warning tells that a file is taken for one of haiku.rag.
    pub(super) fn reason(&self) -> String {
        let line = self
            .line
            .map_or_else(String::new, |line| format!(" in line {line}"));
        format!(
            "read as a file of haiku.rag because of `{}`{line}",
            self.path
        )
    }
}

/// Says in this program's words what `tree` says in those of haiku.rag. Keys that mean nothing here stay where they are.
pub(super) fn translate(mut tree: Tree) -> Result<Translated, MissingVariable> {
    let mut left_out = Vec::new();
    if let Some(mut providers) = Section::of(&mut tree, "providers")
        && let Some(serve) = providers.take("docling_serve")
    {
        left_out.push(UnknownKey {
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
    Ok(Translated { tree, left_out })
}

/// Neighbouring chunks were a matter of `processing` before they became one of `search`.
fn context_radius(tree: &mut Tree) {
    let Some(radius) = Section::of(tree, "processing")
        .and_then(|mut processing| processing.take("context_chunk_radius"))
    else {
        return;
    };
    let line = radius.line;
    let mut search = Section::made(tree, "search", line);
    search.put_absent("context_radius", line, radius.value);
}

/// A text of a leaf.
fn text(tree: &Tree) -> Option<&str> {
    match tree {
        Tree::Leaf(Value::String(text)) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
