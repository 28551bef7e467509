//! The keys that only haiku.rag has, by which its files are recognized.

use serde_json::Value;

use super::super::tree::{Entry, Tree};
use super::rerankers;
use super::section::text;

/// The key by which a file is recognized as one of haiku.rag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::settings) struct Mark {
    /// The key, as a dotted path.
    pub(in crate::settings) path: String,
    pub(in crate::settings) line: Option<u64>,
}

/// Sections that only haiku.rag has, in any of its releases, and keys in them. A section marks a file only together with one of its
/// keys.
const SECTIONS: &[(&str, &[&str])] = &[
    (
        "storage",
        &[
            "data_dir",
            "auto_vacuum",
            "disable_autocreate",
            "monitor_directories",
            "vacuum_retention_seconds",
        ],
    ),
    (
        "monitor",
        &[
            "directories",
            "ignore_patterns",
            "include_patterns",
            "delete_orphans",
        ],
    ),
    ("lancedb", &["uri", "api_key", "region", "storage_options"]),
    (
        "research",
        &[
            "provider",
            "model",
            "max_iterations",
            "max_concurrency",
            "confidence_threshold",
        ],
    ),
    (
        "rlm",
        &["model", "code_timeout", "max_output_chars", "docker_image"],
    ),
    (
        "analysis",
        &[
            "model",
            "code_timeout",
            "max_output_chars",
            "max_executions",
        ],
    ),
    ("doctor", &["duplicates"]),
    (
        "prompts",
        &["domain_preamble", "picture_description", "qa", "synthesis"],
    ),
    ("ingester", &["sources", "queue", "workers", "api"]),
    ("a2a", &["max_contexts"]),
    ("agui", &["host", "port", "cors_origins"]),
    ("multimodal", &["enabled", "model", "index_pictures"]),
    ("hooks", &[]),
];

/// Keys that only haiku.rag has, in sections that both programs have.
const INNER: &[&str] = &[
    "embeddings.model.multimodal",
    "qa.max_searches",
    "qa.max_sub_questions",
    "qa.max_iterations",
    "qa.model.enable_thinking",
    "qa.model.vision",
    "qa.model.structured_output",
    "evaluations.judge.enable_thinking",
    "evaluations.judge.vision",
    "evaluations.judge.structured_output",
    "reranking.multimodal",
    "reranking.model.enable_thinking",
    "reranking.model.vision",
    "search.max_context_chars",
    "search.max_context_items",
    "search.context_expansion_mode",
    "search.vector_index_metric",
    "search.vector_refine_factor",
    "processing.context_chunk_radius",
    "processing.markdown_preprocessor",
    "processing.converter",
    "processing.chunker",
    "processing.chunker_type",
    "processing.chunking_tokenizer",
    "processing.chunking_merge_peers",
    "processing.chunking_use_markdown_tables",
    "processing.conversion_options",
    "processing.split_pages",
    "processing.pictures",
    "processing.min_picture_size",
    "processing.extract_pdf_attachments",
    "processing.auto_title",
    "processing.title_model",
    "providers.docling_serve",
    "providers.vllm.embeddings_base_url",
    "providers.vllm.rerank_base_url",
    "providers.vllm.qa_base_url",
    "providers.vllm.research_base_url",
];

/// Further keys of haiku.rag. They do not mark a file, because somebody may have guessed them for this program.
const AMBIGUOUS: &[&str] = &[
    "embeddings.batch_size",
    "embeddings.http",
    "qa.max_concurrency",
];

/// Whether only haiku.rag has the key at `path`.
pub(in crate::settings) fn is_haiku_key(path: &str) -> bool {
    path == "environment"
        || SECTIONS.iter().any(|(section, _)| *section == path)
        || INNER.contains(&path)
        || AMBIGUOUS.contains(&path)
}

/// The first key in `tree` that only haiku.rag has. A misspelt key does not count.
pub(in crate::settings) fn mark(tree: &Tree) -> Option<Mark> {
    let Tree::Mapping(entries) = tree else {
        return None;
    };
    let of_whole = entries.iter().find(|entry| is_section(entry));
    let found = of_whole.map(|entry| (entry.key.clone(), entry.line));
    let found = found.or_else(|| {
        let mut marking = INNER.iter();
        marking.find_map(|path| Some(((*path).to_owned(), at(tree, path)?.line)))
    });
    let found = found
        .or_else(|| flat_model(tree))
        .or_else(|| reranker(tree));
    found.map(|(path, line)| Mark { path, line })
}

fn is_section(entry: &Entry) -> bool {
    if entry.key == "environment" {
        return text(&entry.value).is_some();
    }
    let section = SECTIONS.iter().find(|(section, _)| *section == entry.key);
    let Some(((_, keys), Tree::Mapping(inner))) = section.zip(Some(&entry.value)) else {
        return false;
    };
    inner.iter().any(|entry| keys.contains(&entry.key.as_str()))
}

/// A model that `provider` and `model` name as texts, as in the first layout.
fn flat_model(tree: &Tree) -> Option<(String, Option<u64>)> {
    ["embeddings", "qa", "reranking"]
        .into_iter()
        .find_map(|section| {
            let is_text = |key: &str| {
                at(tree, &format!("{section}.{key}")).filter(|it| text(&it.value).is_some())
            };
            let provider = is_text("provider")?;
            is_text("model").map(|_| (format!("{section}.provider"), provider.line))
        })
}

/// A reranker of a provider that only haiku.rag has.
fn reranker(tree: &Tree) -> Option<(String, Option<u64>)> {
    let path = "reranking.model.provider";
    let entry = at(tree, path)?;
    let provider = text(&entry.value)?;
    rerankers::is_provider(provider).then(|| (path.to_owned(), entry.line))
}

/// The entry at `path`.
fn at<'t>(tree: &'t Tree, path: &str) -> Option<&'t Entry> {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let Tree::Mapping(entries) = tree else {
        return None;
    };
    let entry = entries.iter().find(|entry| entry.key == first)?;
    match rest {
        Some(rest) => at(&entry.value, rest),
        None => (entry.value != Tree::Leaf(Value::Null)).then_some(entry),
    }
}
