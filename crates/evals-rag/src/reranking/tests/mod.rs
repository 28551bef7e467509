//! Tests of rerankers made from chat models, and of searchers that rerank.

mod listwise;
mod pointwise;
mod searcher;

use std::num::NonZeroUsize;

fn most(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

fn nonce_of(prompt: &str) -> &str {
    let (_, after) = prompt.split_once("<question-").unwrap();
    &after[..16]
}

/// A passage with this object nested deep inside another.
fn nested(object: &str, levels: usize) -> String {
    format!(
        "{}{object}{}",
        r#"{"z":"#.repeat(levels),
        "}".repeat(levels)
    )
}
