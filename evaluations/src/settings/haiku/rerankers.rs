//! Rerankers: what haiku.rag has a provider for is a local model here, or a server with the endpoint `/rerank`.

use serde_json::Value;

use super::super::tree::Tree;
use super::models::{self, Addresses};
use super::section::Section;
use super::text;

/// Where a provider's rerankers run.
enum Home {
    /// In this process; the owner of models that are named without one.
    Local { owner: &'static str },
    /// Behind an address of the provider's own, with a key from a variable.
    Hosted {
        base_url: &'static str,
        key: &'static str,
    },
    /// Behind an address of the user's.
    Own,
}

/// A provider, where its rerankers run, and the one that is meant where none is named.
const PROVIDERS: [(&str, Home, &str); 7] = [
    (
        "mxbai",
        Home::Local {
            owner: "mixedbread-ai",
        },
        "mixedbread-ai/mxbai-rerank-base-v2",
    ),
    (
        "cross-encoder",
        Home::Local {
            owner: "cross-encoder",
        },
        "",
    ),
    (
        "jina-local",
        Home::Local { owner: "jinaai" },
        "jinaai/jina-reranker-v3",
    ),
    (
        "cohere",
        Home::Hosted {
            base_url: "https://api.cohere.com/v2",
            key: "CO_API_KEY",
        },
        "rerank-v3.5",
    ),
    (
        "jina",
        Home::Hosted {
            base_url: "https://api.jina.ai/v1",
            key: "JINA_API_KEY",
        },
        "jina-reranker-v3",
    ),
    (
        "zeroentropy",
        Home::Hosted {
            base_url: "https://api.zeroentropy.dev/v1/models",
            key: "ZEROENTROPY_API_KEY",
        },
        "zerank-1",
    ),
    ("vllm", Home::Own, ""),
];

/// Whether haiku.rag has rerankers of that provider and this program has none.
pub(super) fn is_provider(name: &str) -> bool {
    PROVIDERS.iter().any(|(provider, ..)| *provider == name)
}

/// The reranker of the section `reranking`.
pub(super) fn translate(section: &mut Section<'_>, addresses: &Addresses) {
    let Some(mut model) = section.inner_mut("model") else {
        return;
    };
    if model
        .get("provider")
        .is_some_and(|it| text(&it.value).is_some_and(str::is_empty))
    {
        section.take("model");
        return;
    }
    let provider = models::provider(&mut model);
    let line = model.line("provider");
    let Some((_, home, usual)) = PROVIDERS.iter().find(|(name, ..)| *name == provider) else {
        return;
    };
    // It is told how to think only where it chats, which none of these does.
    if model
        .get("enable_thinking")
        .is_some_and(|it| it.value == Tree::Leaf(Value::Null))
    {
        model.take("enable_thinking");
    }
    if model.text("name").is_none() && !usual.is_empty() {
        model.put_text("name", line, *usual);
    }
    match home {
        Home::Local { owner } => {
            model.put_text("provider", line, "local");
            if let Some(name) = model.text("name").filter(|name| !name.contains('/')) {
                let name = format!("{owner}/{name}");
                model.put_text("name", None, name);
            }
        }
        Home::Hosted { base_url, key } => {
            model.put_text("provider", line, "http");
            model.put_absent("base_url", line, Tree::Leaf((*base_url).into()));
            model.put_absent("api_key_env", line, Tree::Leaf((*key).into()));
        }
        Home::Own => {
            model.put_text("provider", line, "http");
            let own = model
                .text("base_url")
                .map(|url| (url, model.line("base_url")));
            if let Some((address, line)) = own.or_else(|| addresses.vllm_rerank()) {
                let address = models::with_v1(address);
                model.put_text("base_url", line, address);
            }
        }
    }
}
