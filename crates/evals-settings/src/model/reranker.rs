//! Rerankers.

use std::num::NonZeroU32;

use evals_messages::nearest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::chat::{OllamaChatSettings, OpenAiChatSettings};
use super::{
    ChatKind, Connection, LocalSettings, Misfit, Model, ModelKind, Protocol, Provided, variant,
};

/// What runs a reranker.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RerankerKind {
    /// Run in this process, from files in a folder or on the Hugging Face hub.
    Local(LocalRerankerSettings),
    /// A server's endpoint `/rerank`.
    Http(Connection),
    /// A chat model behind a server, which is asked to rerank. The reranker's name is `PROVIDER:NAME` of the chat model.
    Llm(ChatKind),
}

/// Settings of a local reranker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LocalRerankerSettings {
    /// The files, and how they are computed.
    #[serde(flatten)]
    pub local: LocalSettings,
    /// Local rerankers: how many tokens of a text are read. Chat models: the longest answer, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<NonZeroU32>,
    /// Local rerankers that are language models: the instruction in the prompt, instead of the one of the model's authors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<String>,
    /// Local rerankers that are language models: the prompt, if the model's name and files do not tell which one it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank_prompt: Option<RerankPrompt>,
}

/// The prompt of a family of rerankers that are language models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RerankPrompt {
    /// Qwen3-Reranker.
    Qwen3,
    /// mxbai-rerank-v2.
    Mxbai,
}

impl ModelKind for RerankerKind {
    const MODELS: &'static str = "rerankers";
    const SCHEMA: [&'static str; 3] = [
        "Reranker",
        "`local`, `http` or `llm`.",
        "The model's name at its provider. For `local` a folder, or `owner/name` on the Hugging Face hub. For `llm` a chat model as \
         `PROVIDER:NAME`.",
    ];
    const PROVIDERS: &'static [Provided<Self>] = &[
        Provided::new::<LocalRerankerSettings>("local", |it| variant(it, Self::Local)),
        Provided::new::<Connection>("http", |it| variant(it, Self::Http)),
        Provided::new::<OllamaChatSettings>("llm (ollama)", |it| {
            variant(it, |chat| Self::Llm(ChatKind::Ollama(chat)))
        }),
        Provided::new::<OpenAiChatSettings>("llm (openai)", |it| {
            variant(it, |chat| Self::Llm(ChatKind::OpenAi(chat)))
        }),
    ];

    fn provider(provider: &str, name: &str) -> Result<&'static str, Misfit> {
        match (provider, name.split_once(':')) {
            ("local", _) => Ok("local"),
            ("http", _) => Ok("http"),
            ("llm", Some(("ollama", name))) if !name.is_empty() => Ok("llm (ollama)"),
            ("llm", Some((provider, name))) if !provider.is_empty() && !name.is_empty() => {
                Ok("llm (openai)")
            }
            ("llm", _) => {
                let message = "name the provider of the chat model too, as in `ollama:qwen3`";
                Err(Misfit::new("name", message))
            }
            _ => {
                let known = ["http", "llm", "local"];
                let suggestion = nearest::did_you_mean(nearest::of(provider, known));
                let message = format!(
                    "unknown reranker provider `{provider}`; use `http`, `llm` or `local`{suggestion}"
                );
                Err(Misfit::new("provider", message))
            }
        }
    }

    fn connection(&self) -> Option<(Protocol, &Connection)> {
        match self {
            Self::Local(_) => None,
            // A server that reranks often has chat models too, and they share its limits.
            Self::Http(connection) => Some((Protocol::OpenAi, connection)),
            Self::Llm(chat) => chat.connection(),
        }
    }

    fn local(&self) -> Option<&LocalSettings> {
        match self {
            Self::Local(model) => Some(&model.local),
            Self::Http(_) | Self::Llm(_) => None,
        }
    }

    fn asked<'m>(&self, provider: &'m str, name: &'m str) -> (&'m str, &'m str) {
        match self {
            Self::Local(_) | Self::Http(_) => (provider, name),
            Self::Llm(_) => name.split_once(':').unwrap_or((provider, name)),
        }
    }
}

impl Model<RerankerKind> {
    /// The chat model that is asked to rerank.
    pub fn chat(&self) -> Option<Model<ChatKind>> {
        let RerankerKind::Llm(kind) = &self.kind else {
            return None;
        };
        let (provider, name) = self.asked();
        Some(Model {
            provider: provider.to_owned(),
            name: name.to_owned(),
            kind: kind.clone(),
        })
    }
}
