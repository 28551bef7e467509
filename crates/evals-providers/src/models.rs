use serde::Deserialize;
use serde_json::Value;

use super::body::Expected;
use super::server::{Protocol, Server};
use super::{ConnectError, ServerSettings};
use evals_models::ModelIdentity;

/// A model that a server says it has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServedModel {
    /// What it is called there.
    pub name: String,
    /// Digest of its weights, where the server tells; else what it tells of them: where vLLM took them from, how large
    /// llama.cpp found them.
    pub digest: Option<String>,
}

/// What servers of either protocol answer; of each field one of them leaves everything out.
#[derive(Debug, Deserialize)]
struct Listing {
    #[serde(default)]
    models: Vec<OllamaModel>,
    #[serde(default)]
    data: Vec<OpenAiModel>,
}

#[derive(Debug, Deserialize)]
struct OllamaModel {
    name: String,
    #[serde(default)]
    digest: Option<String>,
}

#[derive(Debug, Deserialize)]
struct OpenAiModel {
    id: String,
    #[serde(default)]
    root: Option<String>,
    #[serde(default)]
    meta: Value,
}

impl OpenAiModel {
    /// What tells its weights from others of the same name, and stays the same from one start of the server to the next.
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

/// Asks an Ollama server once for the models it has, by name. Made for finding out what is missing, so nothing is tried twice.
pub async fn list_ollama_models(
    settings: ServerSettings,
) -> Result<Vec<ServedModel>, ConnectError> {
    list(Protocol::Ollama, settings, "/api/tags").await
}

/// Asks a server that speaks `OpenAI`'s protocol once for the models it has, by name. Some servers have no such list.
pub async fn list_openai_models(
    settings: ServerSettings,
) -> Result<Vec<ServedModel>, ConnectError> {
    list(Protocol::OpenAi, settings, "/models").await
}

async fn list(
    protocol: Protocol,
    settings: ServerSettings,
    path: &str,
) -> Result<Vec<ServedModel>, ConnectError> {
    let identity = ModelIdentity::new(protocol.provider(), "*");
    let server = Server::new(protocol, settings, "*")?;
    let failed = |error| ConnectError::from_attempt(&identity, error);
    let expected = Expected::facts("a list of models");
    let body = server.get(path, expected).await.map_err(failed)?;
    let listing: Listing = server.parse(expected, &body).map_err(failed)?;
    let ollama = listing.models.into_iter().map(|model| ServedModel {
        name: model.name,
        digest: model.digest.filter(|digest| !digest.is_empty()),
    });
    let openai = listing.data.into_iter().map(|model| ServedModel {
        digest: model.weights(),
        name: model.id,
    });
    let mut models: Vec<ServedModel> = match protocol {
        Protocol::Ollama => ollama.collect(),
        Protocol::OpenAi | Protocol::Rerank => openai.collect(),
    };
    for model in &mut models {
        model.name = server.redacted(&model.name);
        model.digest = model
            .digest
            .as_deref()
            .map(|digest| server.redacted(digest));
    }
    models.sort();
    Ok(models)
}
