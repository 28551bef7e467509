//! Tests of translating files as haiku.rag's documentation shows them, in both layouts.

use serde_json::{Value, json};

use super::*;

fn marked(text: &str) -> Option<(String, Option<u64>)> {
    mark(&Tree::parse(text).unwrap())
}

fn translated(text: &str) -> Value {
    translate(Tree::parse(text).unwrap())
        .unwrap()
        .tree
        .to_value()
}

#[test]
fn a_file_is_recognized_by_keys_that_only_haiku_rag_has() {
    for (text, path, line) in [
        ("environment: production\n", "environment", 1),
        (
            "search: {limit: 3}\nstorage:\n  data_dir: x\n",
            "storage",
            2,
        ),
        (
            "embeddings:\n  vector_dim: 4096\n  model: qwen3-embedding\n  provider: ollama\n",
            "embeddings.provider",
            4,
        ),
        (
            "qa:\n  provider: ollama\n  model: gpt-oss\n",
            "qa.provider",
            2,
        ),
        (
            "qa:\n  model:\n    provider: ollama\n    enable_thinking: false\n",
            "qa.model.enable_thinking",
            4,
        ),
        (
            "reranking:\n  model:\n    provider: mxbai\n    name: a/b\n",
            "reranking.model.provider",
            3,
        ),
        (
            "providers:\n  vllm:\n    rerank_base_url: http://localhost:8001\n",
            "providers.vllm.rerank_base_url",
            3,
        ),
    ] {
        assert_eq!(marked(text), Some((path.to_owned(), Some(line))), "{text}");
    }
}

#[test]
fn a_file_of_this_program_with_mistakes_in_it_stays_one() {
    for text in [
        "",
        "search: {limt: 3}\n",
        "enviroment: production\n",
        "storage: {limit: 3}\n",
        "prompts: [a]\n",
        "reranking: {model: {provider: mxbay, name: m}}\n",
        "embeddings: {batch_size: 3, model: {provider: ollama, name: m}}\n",
        "qa: {modle: {enable_thinking: true}}\n",
        "embeddings:\n  model:\n",
        "qa: {model: \"ollama:gpt-oss\"}\n",
        "embeddings: {provider: ollama, name: bge-m3}\n",
    ] {
        assert_eq!(marked(text), None, "{text}");
    }
}

#[test]
fn the_first_layout_names_models_by_two_texts() {
    assert_eq!(
        translated(
            "embeddings: {provider: ollama, model: \"qwen3-embedding:4b\", vector_dim: 2560}\n\
             qa: {provider: openai, model: gpt-4o-mini}\n\
             reranking: {provider: cohere, model: rerank-v3.5}\n"
        ),
        json!({
            "embeddings": {"model": {"provider": "ollama", "name": "qwen3-embedding:4b", "vector_dim": 2560}},
            "qa": {"model": {"provider": "openai", "name": "gpt-4o-mini"}},
            "reranking": {"model": {
                "provider": "http", "name": "rerank-v3.5",
                "base_url": "https://api.cohere.com/v2", "api_key_env": "CO_API_KEY",
            }},
        })
    );
    assert_eq!(
        translated("qa: {model: gpt-oss}\nreranking: {provider: \"\", model: \"\"}\n"),
        json!({"qa": {"model": {"provider": "ollama", "name": "gpt-oss"}}, "reranking": {}})
    );
}

#[test]
fn addresses_of_vllm_are_those_of_the_models() {
    assert_eq!(
        translated(
            "embeddings: {provider: vllm, model: e, vector_dim: 512}\n\
             qa: {provider: vllm, model: q}\n\
             reranking: {provider: vllm, model: r}\n\
             providers:\n  vllm:\n    embeddings_base_url: http://host:1\n    qa_base_url: http://host:2/\n    \
             rerank_base_url: http://host:3\n    research_base_url: \"\"\n"
        ),
        json!({
            "embeddings": {"model": {
                "provider": "vllm", "name": "e", "vector_dim": 512, "base_url": "http://host:1/v1",
            }},
            "qa": {"model": {"provider": "vllm", "name": "q", "base_url": "http://host:2/v1"}},
            "reranking": {"model": {"provider": "http", "name": "r", "base_url": "http://host:3/v1"}},
            "providers": {"vllm": {"research_base_url": ""}},
        })
    );
    let own = "reranking: {model: {provider: vllm, name: r, base_url: \"http://host:4/v1/\"}}\n";
    assert_eq!(
        translated(own)["reranking"]["model"]["base_url"],
        "http://host:4/v1"
    );
    let usual = "embeddings: {model: {provider: vllm, name: e, vector_dim: 8}}\n";
    assert_eq!(
        translated(usual)["embeddings"]["model"]["base_url"],
        "http://localhost:8000/v1"
    );
}

#[test]
fn addresses_of_ollama_have_no_path_here() {
    assert_eq!(
        translated(
            "qa: {model: {name: m, base_url: \"http://host:1/v1/\"}}\nproviders: {ollama: {base_url: \"http://host:2/v1\"}}\n"
        ),
        json!({
            "qa": {"model": {"name": "m", "provider": "ollama", "base_url": "http://host:1"}},
            "providers": {"ollama": {"base_url": "http://host:2"}},
        })
    );
}

#[test]
fn thinking_is_a_setting_of_each_provider() {
    let model = |written: &str| {
        let text = format!("qa: {{model: {{{written}}}}}\n");
        translated(&text)["qa"]["model"].clone()
    };
    let qwen = model("provider: ollama, name: qwen3, enable_thinking: false");
    assert_eq!(
        qwen,
        json!({"provider": "ollama", "name": "qwen3", "think": false})
    );
    let oss = model("provider: ollama, name: \"gpt-oss:20b\", enable_thinking: false");
    assert_eq!(oss["think"], "low", "it cannot be told not to think");
    let openai = model("provider: openai, name: gpt-5-mini, enable_thinking: true");
    assert_eq!(
        openai,
        json!({"provider": "openai", "name": "gpt-5-mini", "reasoning_effort": "high"})
    );
    let unset = model("provider: openai, name: m, enable_thinking: ~");
    assert_eq!(unset, json!({"provider": "openai", "name": "m"}));
    let judge =
        translated("evaluations: {judge: {provider: openai, name: j, enable_thinking: false}}");
    assert_eq!(judge["evaluations"]["judge"]["reasoning_effort"], "low");
}

#[test]
fn rerankers_are_local_or_behind_a_server() {
    let reranker = |written: &str| {
        let text = format!("reranking: {{model: {{{written}}}}}\n");
        translated(&text)["reranking"]["model"].clone()
    };
    assert_eq!(
        reranker("provider: mxbai, name: mxbai-rerank-base-v2"),
        json!({"provider": "local", "name": "mixedbread-ai/mxbai-rerank-base-v2"})
    );
    assert_eq!(
        reranker("provider: cross-encoder, name: Qwen/Qwen3-Reranker-0.6B"),
        json!({"provider": "local", "name": "Qwen/Qwen3-Reranker-0.6B"})
    );
    assert_eq!(
        reranker("provider: jina"),
        json!({
            "provider": "http", "name": "jina-reranker-v3",
            "base_url": "https://api.jina.ai/v1", "api_key_env": "JINA_API_KEY",
        })
    );
    assert_eq!(
        reranker("provider: zeroentropy, name: zerank-1"),
        json!({
            "provider": "http", "name": "zerank-1",
            "base_url": "https://api.zeroentropy.dev/v1/models", "api_key_env": "ZEROENTROPY_API_KEY",
        })
    );
    assert_eq!(
        reranker("provider: llm, name: \"ollama:qwen3\""),
        json!({"provider": "llm", "name": "ollama:qwen3"}),
        "what this program has is left as it is"
    );
}

#[test]
fn what_would_mean_something_else_here_is_taken_out() {
    let text = "providers:\n  docling_serve:\n    base_url: [http://a, http://b]\n    api_key: \"${NOT_SET_ANYWHERE}\"\n";
    let translated = translate(Tree::parse(text).unwrap()).unwrap();
    assert_eq!(translated.tree.to_value(), json!({"providers": {}}));
    assert_eq!(translated.removed[0].path, "providers.docling_serve");
    assert_eq!(translated.removed[0].line, Some(2));
}

#[test]
fn lines_survive() {
    let text =
        "qa:\n  provider: ollama\n  model: gpt-oss\nprocessing:\n  context_chunk_radius: 2\n";
    let tree = translate(Tree::parse(text).unwrap()).unwrap().tree;
    let line = |path: &[&str]| tree.deepest(path).and_then(|entry| entry.line);
    assert_eq!(line(&["qa", "model"]), Some(2));
    assert_eq!(line(&["qa", "model", "name"]), Some(3));
    assert_eq!(line(&["search", "context_radius"]), Some(5));
}

#[test]
fn a_library_of_embedding_models_runs_in_this_process() {
    assert_eq!(
        translated(
            "embeddings: {model: {provider: sentence-transformers, name: all-MiniLM-L6-v2, vector_dim: 384}}"
        ),
        json!({"embeddings": {"model": {
            "provider": "local", "name": "sentence-transformers/all-MiniLM-L6-v2", "vector_dim": 384,
        }}})
    );
}
