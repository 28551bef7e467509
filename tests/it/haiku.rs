//! Settings files of haiku.rag: each layout of its releases, and the settings that it gives here.

use serde_json::{Value, json};

use crate::qa_server::{self, KEY};
use crate::sandbox::{Ended, Sandbox, ended};
use crate::scripted_server::{Reaction, ScriptedServer};

/// The flat layout that the releases up to 0.18 document.
const FLAT: &str = "\
environment: production

storage:
  data_dir: \"\"
  vacuum_retention_seconds: 86400

monitor:
  directories:
    - /srv/papers
  ignore_patterns: []

lancedb:
  uri: \"\"
  api_key: \"\"

embeddings:
  provider: ollama
  model: qwen3-embedding:4b
  vector_dim: 2560

reranking:
  provider: mxbai
  model: mixedbread-ai/mxbai-rerank-base-v2

qa:
  provider: ollama
  model: gpt-oss

research:
  provider: \"\"
  model: \"\"

processing:
  chunk_size: 512
  context_chunk_radius: 1
  markdown_preprocessor: \"\"

providers:
  ollama:
    base_url: http://gpu-box:11434

a2a:
  max_contexts: 1000
";

/// The flat layout for vLLM, with an address for each kind of model.
const FLAT_VLLM: &str = "\
embeddings:
  provider: vllm
  model: mixedbread-ai/mxbai-embed-large-v1
  vector_dim: 512
reranking:
  provider: vllm
  model: mixedbread-ai/mxbai-rerank-base-v2
qa:
  provider: vllm
  model: Qwen/Qwen3-4B
providers:
  vllm:
    embeddings_base_url: http://localhost:8000
    rerank_base_url: http://localhost:8001
    qa_base_url: http://localhost:8002
    research_base_url: \"\"
";

/// The layout of 0.19: the answerer is a mapping, the embedder is not yet.
const BETWEEN: &str = "\
embeddings:
  provider: openai
  model: text-embedding-3-small
  vector_dim: 1536
qa:
  model:
    provider: openai
    name: gpt-5-mini
    enable_thinking: false
    temperature: 0.7
    max_tokens: 500
  max_sub_questions: 3
reranking:
  model:
    provider: cohere
    name: rerank-v3.5
search:
  vector_index_metric: cosine
  vector_refine_factor: 30
agui:
  host: 0.0.0.0
  port: 8000
";

/// The nested layout since 0.20, with variables for hosts, a judge, and a reranker behind vLLM.
const NESTED: &str = "\
environment: development
storage:
  auto_vacuum: false
embeddings:
  model:
    provider: openai
    name: qwen3-embedding-4b
    vector_dim: 2560
    base_url: ${VLLM:-http://vllm}:11431/v1
    multimodal: false
reranking:
  multimodal: false
  model:
    provider: vllm
    name: Qwen/Qwen3-Reranker-4B
    base_url: ${VLLM:-http://vllm}:11455
qa:
  model:
    provider: ollama
    name: qwen3
    enable_thinking: true
    vision: false
  max_searches: 5
evaluations:
  judge:
    provider: openai
    name: judge
    base_url: ${VLLM:-http://vllm}:11439/v1
    temperature: 0.6
    max_tokens: 16384
    extra_body: {top_p: 0.95, chat_template_kwargs: {reasoning_effort: low}}
search:
  limit: 8
  max_context_chars: 5000
processing:
  chunking_tokenizer: Qwen/Qwen3-Embedding-0.6B
  conversion_options: {do_ocr: true}
ingester:
  api: {auth_token: \"${NO_SUCH_TOKEN}\"}
providers:
  docling_serve:
    base_url: [http://docling-1:5001, http://docling-2:5001]
";

/// The nested layout with every model in this process.
const IN_PROCESS: &str = "\
embeddings:
  model: {provider: sentence-transformers, name: all-MiniLM-L6-v2, vector_dim: 384}
reranking:
  model: {provider: cross-encoder, name: cross-encoder/ms-marco-MiniLM-L6-v2}
qa:
  model: {provider: ollama, name: gpt-oss, enable_thinking: true, temperature: 0.3}
prompts:
  domain_preamble: \"\"
";

/// The settings that a file gives, and the warnings about it.
fn shown(text: &str) -> (Value, String) {
    let sandbox = Sandbox::new();
    sandbox.write("rag/mine.yaml", text);
    let ended = sandbox.run("config show --config rag/mine.yaml");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // The output is a settings file of this program.
    sandbox.write("again.yaml", &ended.stdout);
    let again = sandbox.run("config show --config again.yaml");
    assert_eq!(again.stderr, "");
    let without_origin = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(without_origin(&again.stdout), without_origin(&ended.stdout));
    let settings = serde_saphyr::from_str(&ended.stdout).unwrap();
    (settings, ended.stderr)
}

/// The warnings for a file that is recognized by `mark`.
fn warnings(mark: &str, left_out: &str) -> String {
    format!(
        "warning: rag/mine.yaml: read as a haiku.rag file because of {mark}\n\
         warning: rag/mine.yaml: ignored settings that only haiku.rag has: {left_out}\n"
    )
}

#[test]
fn the_flat_layout_with_models_of_ollama() {
    let (settings, said) = shown(FLAT);
    assert_eq!(
        settings["embeddings"]["model"],
        json!({"provider": "ollama", "name": "qwen3-embedding:4b", "vector_dim": 2560})
    );
    assert_eq!(
        settings["qa"]["model"],
        json!({"provider": "ollama", "name": "gpt-oss"})
    );
    assert_eq!(
        settings["reranking"]["model"],
        json!({"provider": "local", "name": "mixedbread-ai/mxbai-rerank-base-v2"})
    );
    assert_eq!(settings["search"]["profile"], "hybrid+rerank");
    assert_eq!(settings["search"]["context_radius"], 1);
    assert_eq!(settings["processing"]["chunk_size"], 512);
    assert_eq!(
        settings["providers"],
        json!({"ollama": {"base_url": "http://gpu-box:11434"}})
    );
    assert_eq!(
        said,
        warnings(
            "`environment` on line 1",
            "`environment` (line 1), `storage` (line 3), `monitor` (line 7), `lancedb` (line 12), `research` (line 29), \
             `processing.markdown_preprocessor` (line 36), `a2a` (line 42)"
        )
    );
}

#[test]
fn the_flat_layout_with_addresses_of_vllm() {
    let (settings, said) = shown(FLAT_VLLM);
    assert_eq!(
        settings["embeddings"]["model"],
        json!({
            "provider": "vllm", "name": "mixedbread-ai/mxbai-embed-large-v1", "vector_dim": 512,
            "base_url": "http://localhost:8000/v1",
        })
    );
    assert_eq!(
        settings["qa"]["model"],
        json!({"provider": "vllm", "name": "Qwen/Qwen3-4B", "base_url": "http://localhost:8002/v1"})
    );
    assert_eq!(
        settings["reranking"]["model"],
        json!({"provider": "http", "name": "mixedbread-ai/mxbai-rerank-base-v2", "base_url": "http://localhost:8001/v1"})
    );
    assert_eq!(settings["search"]["profile"], "hybrid+rerank");
    assert_eq!(
        said,
        warnings(
            "`providers.vllm.embeddings_base_url` on line 13",
            "`providers.vllm.research_base_url` (line 16)"
        )
    );
}

#[test]
fn the_mixed_layout_with_models_of_openai_and_cohere() {
    let (settings, said) = shown(BETWEEN);
    assert_eq!(
        settings["embeddings"]["model"],
        json!({"provider": "openai", "name": "text-embedding-3-small", "vector_dim": 1536})
    );
    assert_eq!(
        settings["qa"]["model"],
        json!({
            "provider": "openai", "name": "gpt-5-mini", "temperature": 0.7, "max_tokens": 500, "reasoning_effort": "low",
        })
    );
    assert_eq!(
        settings["reranking"]["model"],
        json!({
            "provider": "http", "name": "rerank-v3.5", "base_url": "https://api.cohere.com/v2", "api_key_env": "CO_API_KEY",
        })
    );
    assert_eq!(
        said,
        warnings(
            "`agui` on line 20",
            "`qa.max_sub_questions` (line 12), `search.vector_index_metric` (line 18), `search.vector_refine_factor` (line 19), \
             `agui` (line 20)"
        )
    );
}

#[test]
fn the_nested_layout_with_a_judge_and_variables() {
    let (settings, said) = shown(NESTED);
    assert_eq!(
        settings["embeddings"]["model"],
        json!({
            "provider": "openai", "name": "qwen3-embedding-4b", "vector_dim": 2560, "base_url": "http://vllm:11431/v1",
        })
    );
    assert_eq!(
        settings["reranking"]["model"],
        json!({"provider": "http", "name": "Qwen/Qwen3-Reranker-4B", "base_url": "http://vllm:11455/v1"})
    );
    assert_eq!(
        settings["qa"]["model"],
        json!({"provider": "ollama", "name": "qwen3", "think": true})
    );
    assert_eq!(
        settings["evaluations"]["judge"],
        json!({
            "provider": "openai", "name": "judge", "base_url": "http://vllm:11439/v1", "temperature": 0.6, "max_tokens": 16384,
            "extra_body": {"top_p": 0.95, "chat_template_kwargs": {"reasoning_effort": "low"}},
        })
    );
    assert_eq!(settings["search"]["limit"], 8);
    assert_eq!(settings["providers"], json!({}));
    assert_eq!(
        said,
        warnings(
            "`environment` on line 1",
            "`environment` (line 1), `storage` (line 2), `embeddings.model.multimodal` (line 10), `reranking.multimodal` (line \
             12), `qa.model.vision` (line 22), `qa.max_searches` (line 23), `search.max_context_chars` (line 34), \
             `processing.chunking_tokenizer` (line 36), `processing.conversion_options` (line 37), `ingester` (line 38), \
             `providers.docling_serve` (line 41)"
        )
    );
}

#[test]
fn the_nested_layout_with_models_in_this_process() {
    let (settings, said) = shown(IN_PROCESS);
    assert_eq!(
        settings["embeddings"]["model"],
        json!({"provider": "local", "name": "sentence-transformers/all-MiniLM-L6-v2", "vector_dim": 384})
    );
    assert_eq!(
        settings["reranking"]["model"],
        json!({"provider": "local", "name": "cross-encoder/ms-marco-MiniLM-L6-v2"})
    );
    assert_eq!(
        settings["qa"]["model"],
        json!({"provider": "ollama", "name": "gpt-oss", "temperature": 0.3, "think": "high"})
    );
    assert_eq!(said, warnings("`prompts` on line 7", "`prompts` (line 7)"));
}

#[test]
fn a_reranker_of_the_file_is_used_by_default() {
    let sandbox = Sandbox::new();
    let server = ScriptedServer::start(|request, _| {
        let texts = request.body["documents"].as_array().map_or(0, Vec::len);
        let rows = (0..texts).map(|index| json!({"index": index, "relevance_score": index}));
        Reaction::json(200, &json!({"results": rows.collect::<Vec<Value>>()}))
    });
    qa_server::write(&sandbox, 6, &server);
    sandbox.write(
        "haiku.rag.yaml",
        format!(
            "reranking:\n  provider: vllm\n  model: ranker\nproviders:\n  vllm:\n    rerank_base_url: {}\n",
            server.ollama_url()
        ),
    );
    let run = |rest: &str| -> Ended {
        let line = format!("run towers.yaml --skip-qa {rest}");
        ended(sandbox.command(&line).env("TOWERS_KEY", KEY))
    };
    let reranked = run("");
    assert_eq!(reranked.code, Some(0), "{}", reranked.stderr);
    let asked = server.received_at("/v1/rerank").len();
    assert_eq!(asked, 6 + 1, "a request for each question, and a probe");
    for rest in ["--profile hybrid", "--set reranking.model=null"] {
        let plain = run(rest);
        assert_eq!(plain.code, Some(0), "{}", plain.stderr);
        assert_eq!(server.received_at("/v1/rerank").len(), asked, "{rest}");
    }
}

#[test]
fn a_mistake_in_a_file_of_this_program_is_an_error() {
    let sandbox = Sandbox::new();
    for (text, message) in [
        (
            "storag: {data_dir: x}\n",
            "mine.yaml:1: unknown setting `storag`",
        ),
        (
            "search: {limt: 3}\n",
            "mine.yaml:1: unknown setting `search.limt`; did you mean `search.limit`?",
        ),
        (
            "qa: {model: gpt-oss}\n",
            "mine.yaml:1: bad value for `qa.model`",
        ),
        (
            "reranking: {model: {provider: mxbay, name: a/b}}\nsearch: {profile: bm25+rerank}\n",
            "mine.yaml:1: bad value for `reranking.model.provider`: unknown reranker provider `mxbay`",
        ),
    ] {
        sandbox.write("mine.yaml", text);
        let refused = sandbox.refuse("sample --skip-qa --config mine.yaml");
        assert!(refused.contains(message), "{refused}");
    }
}
