//! Facts about one model of an Ollama server: its digest and context length.
//!
//! `ollama-rs` reads the same two answers, but drops the digest and the status of a refusal.

use ollama_rs::models::ModelInfo;
use serde::Deserialize;
use serde_json::json;

use crate::classify::Remedy;
use crate::server::{Expected, Server, ServerError};
use crate::traffic::{AttemptError, Lane};
use evals_models::Failure;

/// Facts about a model, known before the first request to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// Digest of the model. The same name may stand for another model tomorrow.
    pub(super) digest: Option<String>,
    /// The most tokens that the model can read.
    pub(super) context_length: Option<u64>,
}

/// Asks the server whether it has its model. A missing model is an answer here and not a failure, because the traffic would remember
/// the failure and refuse the model after it is pulled.
pub(super) async fn has(server: &Server, lane: &Lane) -> Result<bool, AttemptError> {
    let asked = lane.call(0, || async {
        match show(server).await {
            Ok(_) => Ok(true),
            Err(error) if is_missing(&error) => Ok(false),
            Err(error) => Err(error),
        }
    });
    Ok(asked.await?.value)
}

fn is_missing(error: &AttemptError) -> bool {
    let error = error.source.downcast_ref();
    matches!(error, Some(ServerError::NoModel { .. }))
}

/// The answer of `/api/tags`.
#[derive(Debug, Deserialize)]
pub(super) struct Tags {
    #[serde(default)]
    pub(super) models: Vec<Tag>,
}

/// One model that the server has.
#[derive(Debug, Deserialize)]
pub(super) struct Tag {
    #[serde(default)]
    pub(super) name: String,
    digest: Option<String>,
}

/// Asks the server for facts about its model. Fails if the server does not have the model.
pub(super) async fn look_up(server: &Server, lane: &Lane) -> Result<Facts, AttemptError> {
    let tags = lane.call(0, || tags(server)).await?.value;
    let wanted = plain(server.model());
    let tag = tags
        .models
        .into_iter()
        .find(|tag| plain(&tag.name) == wanted);
    // A model that is not in the list may still be there: the server knows more ways to write its name.
    let shown = lane.call(0, || show(server)).await?.value;
    Ok(Facts {
        digest: tag
            .and_then(|tag| tag.digest)
            .filter(|digest| !digest.is_empty())
            .map(|digest| server.redacted(&digest)),
        context_length: context_length(&shown),
    })
}

pub(super) async fn tags(server: &Server) -> Result<Tags, AttemptError> {
    let expected = Expected::facts("a list of models");
    let body = server.get("/api/tags", &[], expected).await?;
    server.parse(expected, &body)
}

async fn show(server: &Server) -> Result<ModelInfo, AttemptError> {
    let question = json!({"model": server.model()});
    let expected = Expected::facts("a model's description");
    let body = server.post("/api/show", &question, expected).await;
    let body = body.map_err(|error| match error.source.downcast_ref() {
        Some(ServerError::Refused { refusal, .. })
            if refusal.status == 404 && refusal.remedy == Some(Remedy::Model) =>
        {
            AttemptError::new(
                Failure::Terminal,
                ServerError::NoModel {
                    server: server.name(),
                    model: server.model().to_owned(),
                },
            )
        }
        _ => error,
    })?;
    server.parse(expected, &body)
}

/// A model's full name in lower case, without the default registry and namespace: `qwen3`, `library/Qwen3` and `qwen3:latest` are
/// the same model.
fn plain(name: &str) -> String {
    let name = name.to_lowercase();
    let name = name.strip_prefix("registry.ollama.ai/").unwrap_or(&name);
    let name = name.strip_prefix("library/").unwrap_or(name);
    let last = name.rsplit('/').next().unwrap_or(name);
    if last.contains(':') {
        name.to_owned()
    } else {
        format!("{name}:latest")
    }
}

/// The context length, which stands under a name that begins with the model's architecture: `qwen3.context_length`.
fn context_length(shown: &ModelInfo) -> Option<u64> {
    let mut facts = shown.model_info.iter();
    facts.find_map(|(name, value)| {
        name.ends_with(".context_length")
            .then(|| value.as_u64())
            .flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_tag_is_the_latest() {
        assert_eq!(plain("qwen3"), "qwen3:latest");
        assert_eq!(plain("Qwen3:8B"), "qwen3:8b");
        assert_eq!(plain("library/qwen3"), "qwen3:latest");
        assert_eq!(plain("registry.ollama.ai/library/qwen3:8b"), "qwen3:8b");
        assert_eq!(plain("host:5000/me/qwen3"), "host:5000/me/qwen3:latest");
    }

    #[test]
    fn the_length_of_context_is_found_for_every_architecture() {
        let shown =
            |info: &str| serde_json::from_str(&format!(r#"{{"model_info":{info}}}"#)).unwrap();
        let length = |info| context_length(&shown(info));
        assert_eq!(
            length(r#"{"general.architecture":"qwen3","qwen3.context_length":40960}"#),
            Some(40_960)
        );
        assert_eq!(length("{}"), None);
    }
}
