//! Servers that speak `OpenAI`'s protocol: `OpenAI`, vLLM, llama.cpp, TGI, LM Studio, `OpenRouter`, Groq and others.

mod batch;
mod chat;
mod dialect;
mod embedder;
#[cfg(test)]
mod fuzz;
mod reply;
mod request;
mod stream;

use evals_models::ModelIdentity;
use serde::Deserialize;
use serde_json::Value;

pub use batch::{BatchCounts, BatchEvent, BatchHost, BatchSettings, BatchSize, BatchedChat};
pub use chat::OpenAiChat;
pub use dialect::Concession;

use crate::server::{ConnectError, Expected, Protocol, Server};
use crate::settings::ServerSettings;

/// A model that a server says it has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServedModel {
    /// Its name at the server.
    pub name: String,
    /// A description of the weights by the server: where vLLM loaded them from, or how large they are for llama.cpp.
    pub digest: Option<String>,
}

/// The answer of `/models`.
#[derive(Debug, Deserialize)]
struct Listing {
    #[serde(default)]
    data: Vec<ListedModel>,
}

#[derive(Debug, Deserialize)]
struct ListedModel {
    id: String,
    root: Option<String>,
    #[serde(default)]
    meta: Value,
}

impl ListedModel {
    /// A text that distinguishes its weights from others under the same name, and stays the same when the server restarts.
    fn weights(&self) -> Option<String> {
        let root = self.root.as_ref().filter(|root| **root != self.id);
        let root = root.map(|root| format!("root={root}"));
        let counts = ["n_params", "size", "n_vocab", "n_embd"];
        let counts = counts.into_iter().filter_map(|name| {
            let count = self.meta.get(name)?.as_u64()?;
            Some(format!("{name}={count}"))
        });
        let parts: Vec<String> = root.into_iter().chain(counts).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }
}

/// Asks a server once for the models that it has, in order of their names. Some servers have no such list.
pub async fn list_openai_models(
    settings: ServerSettings,
) -> Result<Vec<ServedModel>, ConnectError> {
    let protocol = Protocol::OpenAi;
    let identity = ModelIdentity::new(protocol.provider(), "*");
    let server = Server::new(protocol, settings, "*")?;
    let failed = |error| ConnectError::from_attempt(&identity, error);
    let expected = Expected::facts("a list of models");
    let body = server.get("/models", &[], expected).await.map_err(failed)?;
    let listing: Listing = server.parse(expected, &body).map_err(failed)?;
    let served = listing.data.into_iter().map(|model| ServedModel {
        digest: model.weights().map(|weights| server.redacted(&weights)),
        name: server.redacted(&model.id),
    });
    let mut served: Vec<ServedModel> = served.collect();
    served.sort();
    Ok(served)
}
