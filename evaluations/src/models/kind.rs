//! The kinds of model that this program runs, and what tells them apart.

use evals_models::ModelIdentity;

use crate::settings::Role;

/// The provider of models that are part of this program.
pub(crate) const EMBEDDED: &str = "embedded";

/// The software that runs a model.
///
/// Code that treats kinds differently matches on this enum without a wildcard, so that adding a kind is a compile error in every place
/// that has to decide about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelKind {
    /// Part of this program.
    Embedded,
    /// Run in this process, from files in a folder or on the Hugging Face hub.
    Local,
    /// Behind an Ollama server.
    Ollama,
    /// Behind a server that speaks OpenAI's protocol.
    OpenAi,
    /// A reranker behind a server's endpoint `/rerank`.
    HttpReranker,
    /// A chat model that is asked to rerank, behind a server of this protocol.
    LlmReranker(Protocol),
}

/// The protocol of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Protocol {
    Ollama,
    OpenAi,
}

impl ModelKind {
    /// Every kind.
    pub(super) const ALL: [Self; 7] = [
        Self::Embedded,
        Self::Local,
        Self::Ollama,
        Self::OpenAi,
        Self::HttpReranker,
        Self::LlmReranker(Protocol::Ollama),
        Self::LlmReranker(Protocol::OpenAi),
    ];

    /// The kind of a model of `provider`. `name` tells which chat model an LLM reranker asks.
    ///
    /// Some pairs of role and kind do not exist, such as a reranker that is embedded. [`super::reranker::check`] refuses them where a
    /// command needs the model.
    pub(super) fn of(role: Role, provider: &str, name: &str) -> Self {
        match (role, provider) {
            (_, EMBEDDED) => Self::Embedded,
            (Role::Embedder | Role::Reranker, "local") => Self::Local,
            (Role::Reranker, "http") => Self::HttpReranker,
            (Role::Reranker, "llm") => {
                let provider = name.split_once(':').map(|(provider, _)| provider);
                Self::LlmReranker(Protocol::of(provider.unwrap_or_default()))
            }
            _ => match Protocol::of(provider) {
                Protocol::Ollama => Self::Ollama,
                Protocol::OpenAi => Self::OpenAi,
            },
        }
    }

    /// The kind of a model that a run or a report names. An identity does not say which role the model played, so the kind tells
    /// reliably only where the model ran: in this program, in this process, or behind a server.
    pub(crate) fn of_identity(model: &ModelIdentity) -> Self {
        Self::of(Role::Reranker, &model.provider, &model.name)
    }

    /// The protocol of the server that the model is behind; `None` where it runs in this process.
    pub(crate) fn protocol(self) -> Option<Protocol> {
        match self {
            Self::Embedded | Self::Local => None,
            Self::Ollama => Some(Protocol::Ollama),
            // A server that reranks often has chat models too, and they share its limits.
            Self::OpenAi | Self::HttpReranker => Some(Protocol::OpenAi),
            Self::LlmReranker(protocol) => Some(protocol),
        }
    }

    /// Whether the model is behind a server.
    pub(crate) fn is_served(self) -> bool {
        self.protocol().is_some()
    }
}

impl Protocol {
    /// The protocol of a provider's server. Most servers speak OpenAI's, so any name but `ollama` stands for one that does.
    fn of(provider: &str) -> Self {
        match provider {
            "ollama" => Self::Ollama,
            _ => Self::OpenAi,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_means_what_its_role_can_use() {
        for (role, provider, expected) in [
            (Role::Embedder, "embedded", ModelKind::Embedded),
            (Role::Embedder, "local", ModelKind::Local),
            (Role::Embedder, "ollama", ModelKind::Ollama),
            (Role::Embedder, "openai", ModelKind::OpenAi),
            // No chat model runs in this process, and only rerankers have an endpoint of their own.
            (Role::Answerer, "local", ModelKind::OpenAi),
            (Role::Judge, "http", ModelKind::OpenAi),
            (Role::Judge, "groq", ModelKind::OpenAi),
            (Role::Reranker, "local", ModelKind::Local),
            (Role::Reranker, "http", ModelKind::HttpReranker),
        ] {
            assert_eq!(
                ModelKind::of(role, provider, "m"),
                expected,
                "{role:?} {provider}"
            );
        }
    }

    #[test]
    fn an_llm_reranker_speaks_the_protocol_of_its_chat_model() {
        let kind = |name| ModelKind::of(Role::Reranker, "llm", name);
        assert_eq!(
            kind("ollama:qwen3:4b"),
            ModelKind::LlmReranker(Protocol::Ollama)
        );
        assert_eq!(kind("groq:m"), ModelKind::LlmReranker(Protocol::OpenAi));
    }

    #[test]
    fn an_identity_says_where_its_model_ran() {
        let is_served =
            |provider| ModelKind::of_identity(&ModelIdentity::new(provider, "m")).is_served();
        assert!(!is_served("embedded") && !is_served("local"));
        assert!(is_served("ollama") && is_served("http") && is_served("groq"));
    }
}
