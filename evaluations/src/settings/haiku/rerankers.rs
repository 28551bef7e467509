//! Translates rerankers. Providers of haiku.rag become `local` models or `http` servers with an endpoint `/rerank`.

use serde_json::Value;

use super::super::tree::Tree;
use super::models::{self, Addresses};
use super::section::{Section, text};

/// Where a provider's rerankers run.
enum Host {
    /// In this process. Models named without an owner belong to this one.
    Local { owner: &'static str },
    /// At the provider's address, with the key in an environment variable.
    Hosted {
        base_url: &'static str,
        key: &'static str,
    },
    /// At an address of the user's.
    User,
}

/// Providers, where their rerankers run, and their default models.
const PROVIDERS: [(&str, Host, &str); 7] = [
    (
        "mxbai",
        Host::Local {
            owner: "mixedbread-ai",
        },
        "mixedbread-ai/mxbai-rerank-base-v2",
    ),
    (
        "cross-encoder",
        Host::Local {
            owner: "cross-encoder",
        },
        "",
    ),
    (
        "jina-local",
        Host::Local { owner: "jinaai" },
        "jinaai/jina-reranker-v3",
    ),
    (
        "cohere",
        Host::Hosted {
            base_url: "https://api.cohere.com/v2",
            key: "CO_API_KEY",
        },
        "rerank-v3.5",
    ),
    (
        "jina",
        Host::Hosted {
            base_url: "https://api.jina.ai/v1",
            key: "JINA_API_KEY",
        },
        "jina-reranker-v3",
    ),
    (
        "zeroentropy",
        Host::Hosted {
            base_url: "https://api.zeroentropy.dev/v1/models",
            key: "ZEROENTROPY_API_KEY",
        },
        "zerank-1",
    ),
    ("vllm", Host::User, ""),
];

/// Whether only haiku.rag has rerankers of this provider.
pub(super) fn is_provider(name: &str) -> bool {
    PROVIDERS.iter().any(|(provider, ..)| *provider == name)
}

/// Translates the reranker of the section `reranking`.
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
    // None of these rerankers is a chat model, so an empty `enable_thinking` means nothing.
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
        Host::Local { owner } => {
            model.put_text("provider", line, "local");
            if let Some(name) = model.text("name").filter(|name| !name.contains('/')) {
                let name = format!("{owner}/{name}");
                model.put_text("name", None, name);
            }
        }
        Host::Hosted { base_url, key } => {
            model.put_text("provider", line, "http");
            model.put_if_absent("base_url", line, Tree::Leaf((*base_url).into()));
            model.put_if_absent("api_key_env", line, Tree::Leaf((*key).into()));
        }
        Host::User => {
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
