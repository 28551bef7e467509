//! Translates models: those behind servers get addresses as this program expects them, and those of libraries become `local`.

use evals_yaml::{Entry, Tree};
use serde_json::Value;

use super::put_if_absent;

/// The provider of a model that names none.
const OLLAMA: &str = "ollama";

/// What a provider of haiku.rag is here. Empty texts say nothing.
struct Provider {
    name: &'static str,
    /// Its name here.
    here: &'static str,
    /// The model that it has without a name.
    model: &'static str,
    /// The owner, on the hub, of models that are named without one.
    owner: &'static str,
    base_url: &'static str,
    /// The environment variable with the key.
    key: &'static str,
    /// Whether the address has to end in `/v1`.
    speaks_openai: bool,
}

/// Models of a library, which run in this process.
const fn library(name: &'static str, owner: &'static str, model: &'static str) -> Provider {
    Provider {
        here: "local",
        model,
        owner,
        speaks_openai: false,
        ..server(name, "")
    }
}

/// A reranker of a service.
const fn service(
    name: &'static str,
    base_url: &'static str,
    key: &'static str,
    model: &'static str,
) -> Provider {
    Provider {
        here: "http",
        model,
        key,
        speaks_openai: false,
        ..server(name, base_url)
    }
}

/// A server of the user's that speaks OpenAI's protocol.
const fn server(name: &'static str, base_url: &'static str) -> Provider {
    Provider {
        name,
        here: name,
        model: "",
        owner: "",
        base_url,
        key: "",
        speaks_openai: true,
    }
}

const EMBEDDERS: &[Provider] = &[
    library("sentence-transformers", "sentence-transformers", ""),
    server("vllm", "http://localhost:8000"),
    server("lm_studio", "http://localhost:1234"),
];

const CHAT_MODELS: &[Provider] = &[
    server("vllm", "http://localhost:8000"),
    server("lm_studio", "http://localhost:1234"),
];

const RERANKERS: &[Provider] = &[
    library(
        "mxbai",
        "mixedbread-ai",
        "mixedbread-ai/mxbai-rerank-base-v2",
    ),
    library("cross-encoder", "cross-encoder", ""),
    library("jina-local", "jinaai", "jinaai/jina-reranker-v3"),
    service(
        "cohere",
        "https://api.cohere.com/v2",
        "CO_API_KEY",
        "rerank-v3.5",
    ),
    service(
        "jina",
        "https://api.jina.ai/v1",
        "JINA_API_KEY",
        "jina-reranker-v3",
    ),
    service(
        "zeroentropy",
        "https://api.zeroentropy.dev/v1/models",
        "ZEROENTROPY_API_KEY",
        "zerank-1",
    ),
    Provider {
        here: "http",
        ..server("vllm", "")
    },
];

/// Whether only haiku.rag has rerankers of this provider.
pub(super) fn has_rerankers(provider: &str) -> bool {
    RERANKERS.iter().any(|it| it.name == provider)
}

/// Translates every model of `tree`, and its section `providers`.
pub(super) fn translate(tree: &mut Tree) {
    for (section, fields) in [
        ("embeddings", &["vector_dim", "base_url"][..]),
        ("qa", &["base_url"]),
        ("reranking", &["base_url"]),
    ] {
        if let Some(section) = tree.get_mut(section) {
            nest(&mut section.value, fields);
        }
    }
    if is_empty(tree.get("reranking.model.provider")) {
        tree.take("reranking.model");
    }
    let providers = tree.get("providers").map(|it| it.value.clone());
    let providers = providers.unwrap_or_default();
    for (path, known, address) in [
        ("embeddings.model", EMBEDDERS, "vllm.embeddings_base_url"),
        ("qa.model", CHAT_MODELS, "vllm.qa_base_url"),
        ("evaluations.judge", CHAT_MODELS, "vllm.qa_base_url"),
        ("reranking.model", RERANKERS, "vllm.rerank_base_url"),
    ] {
        let Some(model) = tree.get_mut(path).map(|it| &mut it.value) else {
            continue;
        };
        if let Tree::Mapping(_) = model {
            let provider = set_provider(model, known, |provider| match provider {
                "vllm" => providers.get(address),
                "lm_studio" => providers.get("lm_studio.base_url"),
                _ => None,
            });
            set_thinking(model, &provider, path);
        }
    }
    if let Some(ollama) = tree.get_mut("providers.ollama") {
        without_v1(&mut ollama.value);
    }
    for (provider, address) in [
        ("vllm", "embeddings_base_url"),
        ("vllm", "qa_base_url"),
        ("vllm", "rerank_base_url"),
        ("lm_studio", "base_url"),
    ] {
        let provider = format!("providers.{provider}");
        tree.take(&format!("{provider}.{address}"));
        let left = tree.get(&provider).map(|it| &it.value);
        if left == Some(&Tree::Mapping(Vec::new())) {
            tree.take(&provider);
        }
    }
}

/// Turns `{provider: …, model: NAME, …}` of the first layout into `{model: {provider: …, name: NAME, …}}`, and moves `fields` along.
///
/// An empty provider stands for no model.
fn nest(section: &mut Tree, fields: &[&str]) {
    let named = section.get("model").and_then(|it| it.value.text());
    if section.get("provider").is_none() && named.is_none() {
        return;
    }
    let provider = section.take("provider");
    let name = section.take("model");
    let mut moved: Vec<Entry> = fields.iter().filter_map(|it| section.take(it)).collect();
    let first = provider.as_ref().or(name.as_ref());
    let line = first.and_then(|entry| entry.line);
    if is_empty(first) {
        return;
    }
    match name {
        // The section mixes both layouts, and the second one wins.
        Some(Entry {
            value: Tree::Mapping(inner),
            ..
        }) => moved.extend(inner),
        Some(name) if !is_empty(Some(&name)) => moved.push(Entry {
            key: "name".to_owned(),
            ..name
        }),
        _ => {}
    }
    if moved.iter().all(|entry| entry.key != "provider") {
        moved.extend(provider);
    }
    section.put("model", line, Tree::Mapping(moved));
}

/// Names the provider as this program does, with the address that is in the model, in `providers` or usual. Returns its first name.
fn set_provider<'t>(
    model: &mut Tree,
    known: &[Provider],
    written: impl Fn(&str) -> Option<&'t Entry>,
) -> String {
    let provider = text(model, "provider").unwrap_or_else(|| OLLAMA.to_owned());
    let line = line(model, "provider").or(line(model, "name"));
    put_text(model, "provider", line, &provider);
    if provider == OLLAMA {
        without_v1(model);
    }
    let Some(known) = known.iter().find(|it| it.name == provider) else {
        return provider;
    };
    put_text(model, "provider", line, known.here);
    match text(model, "name") {
        None if !known.model.is_empty() => put_text(model, "name", line, known.model),
        Some(name) if !known.owner.is_empty() && !name.contains('/') => {
            put_text(model, "name", None, &format!("{}/{name}", known.owner));
        }
        _ => {}
    }
    let own = text(model, "base_url").map(|url| (url, self::line(model, "base_url")));
    let written = written(&provider).filter(|it| !is_empty(Some(it)));
    let written = written.and_then(|it| Some((it.value.text()?.to_owned(), it.line)));
    let (address, line) = own
        .or(written)
        .unwrap_or_else(|| (known.base_url.to_owned(), line));
    if known.speaks_openai && !address.is_empty() {
        put_text(model, "base_url", line, &with_v1(&address));
    } else if !address.is_empty() {
        put_text(model, "base_url", line, &address);
    }
    if !known.key.is_empty() {
        put_if_absent(model, "api_key_env", line, Tree::Leaf(known.key.into()));
    }
    provider
}

/// Sets whether a model reasons: `think` for Ollama, `reasoning_effort` for all others. Rerankers have no such setting.
fn set_thinking(model: &mut Tree, provider: &str, path: &str) {
    let is_chat = ["qa.model", "evaluations.judge"].contains(&path);
    let is_unset = |it: &Entry| it.value == Tree::default();
    if !is_chat && !model.get("enable_thinking").is_some_and(is_unset) {
        return;
    }
    let Some(Entry { line, value, .. }) = model.take("enable_thinking") else {
        return;
    };
    // Some models take levels, and cannot be told not to reason.
    let name = text(model, "name").unwrap_or_default();
    let takes_levels = name
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .starts_with("gpt-oss");
    let value = match value {
        Tree::Leaf(Value::Null) => return,
        Tree::Leaf(Value::Bool(thinks)) if provider != OLLAMA || takes_levels => {
            Tree::Leaf(if thinks { "high" } else { "low" }.into())
        }
        value => value,
    };
    let field = match provider {
        OLLAMA => "think",
        _ => "reasoning_effort",
    };
    put_if_absent(model, field, line, value);
}

/// Whether an entry has an empty text.
fn is_empty(entry: Option<&Entry>) -> bool {
    entry.is_some_and(|it| it.value.text() == Some(""))
}

/// The text at `key` if it is not empty.
fn text(model: &Tree, key: &str) -> Option<String> {
    let text = model.get(key)?.value.text()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn line(model: &Tree, key: &str) -> Option<u64> {
    model.get(key)?.line
}

fn put_text(model: &mut Tree, key: &str, line: Option<u64>, text: &str) {
    model.put(key, line, Tree::Leaf(text.into()));
}

/// Cuts `/v1` from the address of a server of Ollama.
fn without_v1(server: &mut Tree) {
    let address = text(server, "base_url").unwrap_or_default();
    if let Some(root) = address.trim_end_matches('/').strip_suffix("/v1") {
        put_text(server, "base_url", None, root);
    }
}

/// The base address of a server that speaks `OpenAI`'s protocol.
fn with_v1(address: &str) -> String {
    let address = address.trim_end_matches('/');
    if address.ends_with("/v1") {
        address.to_owned()
    } else {
        format!("{address}/v1")
    }
}
