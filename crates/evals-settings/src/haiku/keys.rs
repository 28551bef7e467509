//! The keys that only haiku.rag has, by which its files are recognized.

use super::models;
use evals_yaml::{Entry, Tree};

/// Sections that only haiku.rag has, in any of its releases, and keys in them. A section marks a file only together with one of its
/// keys.
const SECTIONS: &str = "\
    storage: data_dir auto_vacuum disable_autocreate monitor_directories vacuum_retention_seconds
    monitor: directories ignore_patterns include_patterns delete_orphans
    lancedb: uri api_key region storage_options
    research: provider model max_iterations max_concurrency confidence_threshold
    rlm: model code_timeout max_output_chars docker_image
    analysis: model code_timeout max_output_chars max_executions
    doctor: duplicates
    prompts: domain_preamble picture_description qa synthesis
    ingester: sources queue workers api
    a2a: max_contexts
    agui: host port cors_origins
    multimodal: enabled model index_pictures
    hooks:";

/// Keys that only haiku.rag has, in sections that both programs have.
const INNER: &str = "\
    embeddings.model: multimodal
    qa: max_searches max_sub_questions max_iterations
    qa.model: enable_thinking vision structured_output
    evaluations.judge: enable_thinking vision structured_output
    reranking: multimodal
    reranking.model: enable_thinking vision
    search: max_context_chars max_context_items context_expansion_mode vector_index_metric vector_refine_factor
    processing: context_chunk_radius markdown_preprocessor converter chunker chunker_type chunking_tokenizer
    processing: chunking_merge_peers chunking_use_markdown_tables conversion_options split_pages pictures
    processing: min_picture_size extract_pdf_attachments auto_title title_model
    providers: docling_serve
    providers.vllm: embeddings_base_url rerank_base_url qa_base_url research_base_url";

/// Further keys of haiku.rag. They do not mark a file, because somebody may have guessed them for this program.
const AMBIGUOUS: [&str; 3] = [
    "embeddings.batch_size",
    "embeddings.http",
    "qa.max_concurrency",
];

/// The sections of a table, each with its keys.
fn rows(table: &str) -> impl Iterator<Item = (&str, impl Iterator<Item = &str>)> {
    table.lines().map(|line| {
        let (section, keys) = line.split_once(':').unwrap_or((line, ""));
        (section.trim(), keys.split_whitespace())
    })
}

/// The dotted paths of [`INNER`].
fn inner() -> impl Iterator<Item = String> {
    rows(INNER).flat_map(|(section, keys)| keys.map(move |key| format!("{section}.{key}")))
}

/// Whether only haiku.rag has the key at `path`.
pub(crate) fn is_haiku_key(path: &str) -> bool {
    path == "environment"
        || rows(SECTIONS).any(|(section, _)| section == path)
        || inner().any(|key| key == path)
        || AMBIGUOUS.contains(&path)
}

/// The first key in `tree` that only haiku.rag has, as a dotted path with its line. A misspelt key does not count.
pub(crate) fn mark(tree: &Tree) -> Option<(String, Option<u64>)> {
    let Tree::Mapping(entries) = tree else {
        return None;
    };
    let section = entries.iter().find(|entry| is_section(entry));
    let section = section.map(|entry| (entry.key.clone(), entry.line));
    let found = section.or_else(|| {
        inner().find_map(|path| {
            let entry = tree.get(&path)?;
            (entry.value != Tree::default()).then_some((path, entry.line))
        })
    });
    found
        .or_else(|| flat_model(tree))
        .or_else(|| reranker(tree))
}

fn is_section(entry: &Entry) -> bool {
    if entry.key == "environment" {
        return entry.value.text().is_some();
    }
    rows(SECTIONS)
        .filter(|(section, _)| *section == entry.key)
        .any(|(_, mut keys)| keys.any(|key| entry.value.get(key).is_some()))
}

/// A model that `provider` and `model` name as texts, as in the first layout.
fn flat_model(tree: &Tree) -> Option<(String, Option<u64>)> {
    let is_text = |path: &str| tree.get(path).filter(|it| it.value.text().is_some());
    ["embeddings", "qa", "reranking"]
        .into_iter()
        .find_map(|section| {
            let path = format!("{section}.provider");
            let provider = is_text(&path)?;
            is_text(&format!("{section}.model"))?;
            Some((path, provider.line))
        })
}

/// A reranker of a provider that only haiku.rag has.
fn reranker(tree: &Tree) -> Option<(String, Option<u64>)> {
    let path = "reranking.model.provider";
    let entry = tree.get(path)?;
    models::has_rerankers(entry.value.text()?).then(|| (path.to_owned(), entry.line))
}
