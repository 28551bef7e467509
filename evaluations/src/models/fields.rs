//! The table of settings: which ones a model has, by its kind and by the role that it plays. Setting one that the model would ignore
//! is an error.

use super::configured::{ConfiguredModel, ConfiguredModels};
use super::kind::{ModelKind, Protocol};
use crate::settings::{Resolved, Role, SettingsError};

/// Settings of every model behind a server.
const SERVER: &[&str] = &[
    "base_url",
    "api_key_env",
    "timeout",
    "max_concurrency",
    "extra_body",
];
/// Settings of every local model.
const LOCAL: &[&str] = &["revision", "dtype"];
/// Settings of every embedding model that is not embedded.
const EMBEDDING: &[&str] = &[
    "vector_dim",
    "max_tokens",
    "query_prefix",
    "document_prefix",
];
/// Settings of every chat model.
const CHAT: &[&str] = &["temperature", "max_tokens", "seed"];
/// Settings of chat models behind Ollama.
const OLLAMA_CHAT: &[&str] = &["num_ctx", "keep_alive", "think"];
/// Settings of chat models behind a server that speaks OpenAI's protocol.
const OPENAI_CHAT: &[&str] = &["reasoning_effort"];

/// The settings of a model of this kind in this role, besides `provider` and `name`.
fn fields(role: Role, kind: ModelKind) -> &'static [&'static [&'static str]] {
    use ModelKind::{Embedded, HttpReranker, LlmReranker, Local, Ollama, OpenAi};
    match (role, kind) {
        (Role::Embedder, Embedded) => &[&["vector_dim"]],
        (Role::Embedder, Local) => &[LOCAL, EMBEDDING, &["pooling"]],
        (Role::Embedder, Ollama) => &[SERVER, EMBEDDING, &["keep_alive"]],
        (Role::Embedder, OpenAi) => &[SERVER, EMBEDDING],
        (Role::Answerer | Role::Judge, Ollama)
        | (Role::Reranker, LlmReranker(Protocol::Ollama)) => &[SERVER, CHAT, OLLAMA_CHAT],
        (Role::Answerer | Role::Judge, OpenAi)
        | (Role::Reranker, LlmReranker(Protocol::OpenAi)) => &[SERVER, CHAT, OPENAI_CHAT],
        (Role::Reranker, Local) => &[LOCAL, &["max_tokens", "instruction", "rerank_prompt"]],
        (Role::Reranker, HttpReranker) => &[SERVER],
        // The embedded answerer and judge have no settings, and no model of the other kinds plays the role.
        (Role::Embedder, HttpReranker | LlmReranker(_))
        | (Role::Answerer | Role::Judge, Embedded | Local | HttpReranker | LlmReranker(_))
        | (Role::Reranker, Embedded | Ollama | OpenAi) => &[],
    }
}

fn has(role: Role, kind: ModelKind, field: &str) -> bool {
    fields(role, kind).iter().any(|some| some.contains(&field))
}

/// Refuses settings that a model of `models` would ignore.
///
/// Embedding models that run in this process are checked by [`super::embedder::check`], and rerankers by
/// [`super::reranker::check`], where a command needs them.
pub(crate) fn check_all(
    resolved: &Resolved,
    models: &ConfiguredModels,
) -> Result<(), SettingsError> {
    check(resolved, &models.answerer)?;
    check(resolved, &models.judge)?;
    if models.embedder.kind.is_served() {
        check(resolved, &models.embedder)?;
    }
    Ok(())
}

/// Refuses the first setting of `model` that it would ignore.
pub(super) fn check(resolved: &Resolved, model: &ConfiguredModel) -> Result<(), SettingsError> {
    let set = model.settings.set_fields();
    match set.iter().find(|field| !has(model.role, model.kind, field)) {
        Some(field) => Err(model.bad_field(resolved, field, &without(model, field))),
        None => Ok(()),
    }
}

/// Says that `model` has no setting `field`, and which models of the same role have it.
fn without(model: &ConfiguredModel, field: &str) -> String {
    let role = match model.role {
        Role::Embedder => "embedding models",
        Role::Answerer => "answering models",
        Role::Judge => "judges",
        Role::Reranker => "rerankers",
    };
    let provider = &model.settings.provider;
    let this = match model.kind {
        ModelKind::LlmReranker(_) => format!("`llm` ({provider})"),
        ModelKind::Embedded
        | ModelKind::Local
        | ModelKind::Ollama
        | ModelKind::OpenAi
        | ModelKind::HttpReranker => format!("`{provider}`"),
    };
    let having: Vec<&str> = ModelKind::ALL
        .into_iter()
        .filter(|kind| has(model.role, *kind, field))
        .map(provider_of)
        .collect();
    match having.as_slice() {
        [] => format!("no {role} have this setting"),
        having => format!(
            "{role} of {this} do not have this setting; those of {} do",
            having.join(" and ")
        ),
    }
}

/// The name of this kind of model in settings.
fn provider_of(kind: ModelKind) -> &'static str {
    match kind {
        ModelKind::Embedded => "`embedded`",
        ModelKind::Local => "`local`",
        ModelKind::Ollama => "`ollama`",
        ModelKind::OpenAi => "`openai`",
        ModelKind::HttpReranker => "`http`",
        ModelKind::LlmReranker(Protocol::Ollama) => "`llm` (ollama)",
        ModelKind::LlmReranker(Protocol::OpenAi) => "`llm` (openai)",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::settings::{Layer, json_schema, resolve};

    fn checked(path: &str, provider: &str, field: &str) -> Result<(), String> {
        let assignments = [
            format!("{path}.provider={provider}"),
            format!("{path}.name=m"),
            format!("{path}.{field}"),
        ];
        let layer = Layer::assignments(&assignments).unwrap();
        let resolved = resolve(layer.into_iter().collect()).unwrap();
        let models = ConfiguredModels::of(&resolved.settings);
        check_all(&resolved, &models).map_err(|error| error.to_string())
    }

    #[test]
    fn what_would_be_ignored_is_refused_by_its_path() {
        let cases = [
            ("qa.model", "openai", "num_ctx=8192"),
            ("qa.model", "groq", "query_prefix=x"),
            ("qa.model", "ollama", "reasoning_effort=low"),
            ("qa.model", "embedded", "temperature=0"),
            ("evaluations.judge", "openai", "think=true"),
            ("embeddings.model", "openai", "temperature=0"),
            ("embeddings.model", "openai", "keep_alive=5m"),
            ("embeddings.model", "ollama", "num_ctx=8192"),
        ];
        for (path, provider, field) in cases {
            let name = field.split('=').next().unwrap();
            let message = checked(path, provider, field).unwrap_err();
            assert!(
                message.starts_with(&format!("`--set`: bad value for `{path}.{name}`: ")),
                "{message}"
            );
            assert!(message.contains("have this setting"), "{message}");
        }
    }

    #[test]
    fn a_refusal_says_which_models_have_the_setting() {
        for (path, provider, field, expected) in [
            (
                "qa.model",
                "groq",
                "num_ctx=8192",
                "answering models of `groq` do not have this setting; those of `ollama` do",
            ),
            (
                "qa.model",
                "embedded",
                "seed=1",
                "answering models of `embedded` do not have this setting; those of `ollama` and `openai` do",
            ),
            (
                "evaluations.judge",
                "ollama",
                "reasoning_effort=low",
                "judges of `ollama` do not have this setting; those of `openai` do",
            ),
            (
                "embeddings.model",
                "ollama",
                "num_ctx=8192",
                "no embedding models have this setting",
            ),
        ] {
            let message = checked(path, provider, field).unwrap_err();
            assert_eq!(message.rsplit_once("`: ").unwrap().1, expected);
        }
    }

    #[test]
    fn what_means_something_is_taken() {
        let cases = [
            ("qa.model", "openai", "reasoning_effort=low"),
            ("qa.model", "ollama", "num_ctx=8192"),
            ("evaluations.judge", "groq", "extra_body={top_p: 1}"),
            ("embeddings.model", "ollama", "keep_alive=5m"),
            ("embeddings.model", "openai", "max_tokens=512"),
            ("embeddings.model", "local", "dtype=int8"),
        ];
        for (path, provider, field) in cases {
            assert_eq!(checked(path, provider, field), Ok(()), "{path} {field}");
        }
    }

    #[test]
    fn every_setting_means_something_for_some_model() {
        let schema = json_schema();
        let properties = schema["$defs"]["Model"]["properties"].as_object();
        let settable: Vec<&String> = properties
            .into_iter()
            .flat_map(serde_json::Map::keys)
            .collect();
        assert!(settable.len() > 20, "{settable:?}");
        let pairs = || {
            let of_role = |role| ModelKind::ALL.into_iter().map(move |kind| (role, kind));
            Role::ALL.into_iter().flat_map(of_role)
        };
        for field in settable
            .iter()
            .filter(|it| !["provider", "name"].contains(&it.as_str()))
        {
            assert!(
                pairs().any(|(role, kind)| has(role, kind, field)),
                "{field}"
            );
        }
        for field in pairs().flat_map(|(role, kind)| fields(role, kind).concat()) {
            assert!(settable.iter().any(|it| *it == field), "{field}");
        }
        assert_ne!(schema["$defs"]["Model"], Value::Null);
    }
}
