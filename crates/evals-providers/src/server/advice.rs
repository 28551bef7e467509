//! Advice in messages about refusals: how the user can fix them.

use super::error::pull_advice;
use super::{Protocol, Server};
use crate::classify::Remedy;

impl Server {
    pub(super) fn advice(&self, remedy: Remedy) -> String {
        let advice = match (remedy, self.protocol) {
            (Remedy::Key | Remedy::Quota, Protocol::Target) => {
                "check the credentials in `headers` or `query` of the target"
            }
            (Remedy::Address, Protocol::Target) => {
                "check the `address` and the `method` of the target"
            }
            (Remedy::Key, _) => match &self.settings.api_key {
                Some(key) => {
                    let variable = key.variable();
                    return format!("check the key in `{variable}`, which `api_key_env` names");
                }
                None => "name the environment variable that holds a key in `api_key_env`",
            },
            (Remedy::Quota, _) => {
                "the account has no credit left: top it up, or set a different model"
            }
            (Remedy::Model, Protocol::Ollama) => return pull_advice(&self.model),
            (Remedy::Model, _) => {
                let model = &self.model;
                return format!("set the model's `name` to one that the server has, not `{model}`");
            }
            (Remedy::Address, Protocol::Ollama) => "check `base_url`: Ollama's has no path",
            (Remedy::Address, Protocol::OpenAi) if self.settings.base_url.ends_in_v1() => {
                "check `base_url`: some servers have no `/v1` in theirs"
            }
            (Remedy::Address, Protocol::OpenAi) => "check `base_url`: it usually ends in `/v1`",
            (Remedy::Address, Protocol::Rerank) => "check `base_url`: `/rerank` is appended to it",
            (Remedy::Setting, _) => {
                "change or remove the setting of the model that the server names"
            }
            (Remedy::Memory, _) => {
                "set a smaller model, or a smaller `num_ctx` where the server takes one"
            }
            (Remedy::Embeddings, _) => {
                "set a model that embeds, or start the server with embeddings enabled"
            }
            (Remedy::Reranking, _) => {
                "set a model that reranks, or start the server with reranking enabled"
            }
            (Remedy::Conversations, _) => {
                "set a chat model: one that the server offers at `/chat/completions`"
            }
            (Remedy::SystemRole, _) => "set a model whose chat template has the role `system`",
            (Remedy::Firewall, _) => {
                "a firewall in front of the server refused this; have it let such requests pass"
            }
        };
        advice.to_owned()
    }

    pub(crate) fn start_advice(&self) -> String {
        match self.protocol {
            Protocol::Ollama => "start it with `ollama serve`, or check `base_url`".to_owned(),
            Protocol::Target => "start it, or check its address".to_owned(),
            Protocol::OpenAi | Protocol::Rerank => {
                "start the server, or check `base_url`".to_owned()
            }
        }
    }
}
