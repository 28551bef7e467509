//! A model of the settings: its provider, its name, and the settings that models of this provider have.
//!
//! The types are the table of which settings a model has. Reading, the JSON Schema and the error of a setting that does not belong
//! all follow from them.

mod chat;
mod embedder;
mod reranker;

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroUsize;

use evals_models::redacted_fields;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

pub use chat::{ChatKind, Effort, OllamaChatSettings, OpenAiChatSettings, Sampling, Think};
pub use embedder::{
    EmbeddedEmbedderSettings, EmbedderKind, LocalEmbedderSettings, OllamaEmbedderSettings,
    OpenAiEmbedderSettings, Pooling, TextSettings,
};
pub use reranker::{LocalRerankerSettings, RerankPrompt, RerankerKind};

use crate::redaction;

/// The provider of models that are part of this program.
pub const EMBEDDED: &str = "embedded";

/// One model. A layer that names another `provider` replaces the whole model of the layers below it. One that names another `name`
/// replaces `vector_dim` and what else is true of the model's weights alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Model<K> {
    /// The provider, or the name of a server under `providers`.
    pub provider: String,
    /// The name at the provider.
    pub name: String,
    /// What the provider makes of it, with the settings that it has there.
    #[serde(flatten)]
    pub kind: K,
}

/// What runs the models of a role: an enum with the settings of each provider's models.
pub trait ModelKind: Sized + 'static {
    /// The models in messages, such as `rerankers`.
    const MODELS: &'static str;
    /// What the JSON Schema calls the type, and what it says of `provider` and `name`.
    const SCHEMA: [&'static str; 3];
    /// The providers whose models play the role.
    const PROVIDERS: &'static [Provided<Self>];

    /// The name in [`Self::PROVIDERS`] of a model's provider. Servers of any name count as `openai`.
    fn provider(provider: &str, _name: &str) -> Result<&'static str, Misfit> {
        let mut names = Self::PROVIDERS.iter().map(|it| it.name);
        Ok(names.find(|name| *name == provider).unwrap_or("openai"))
    }

    /// How the model's server is reached; `None` where the model runs in this process.
    fn connection(&self) -> Option<(Protocol, &Connection)>;

    /// The files of a model that runs in this process.
    fn local(&self) -> Option<&LocalSettings> {
        None
    }

    /// The provider and the name of the model that is asked in the end.
    fn asked<'m>(&self, provider: &'m str, name: &'m str) -> (&'m str, &'m str) {
        (provider, name)
    }
}

/// The models of one provider in one role.
#[derive(Debug)]
pub struct Provided<K> {
    name: &'static str,
    schema: fn(&mut SchemaGenerator) -> Schema,
    read: fn(Value) -> serde_json::Result<K>,
}

impl<K> Provided<K> {
    /// Models with the settings `S`.
    const fn new<S: JsonSchema>(
        name: &'static str,
        read: fn(Value) -> serde_json::Result<K>,
    ) -> Self {
        let schema = S::json_schema;
        Self { name, schema, read }
    }

    /// The schema of each setting, by its key.
    fn settings(&self, generator: &mut SchemaGenerator) -> Map<String, Value> {
        match (self.schema)(generator).get_mut("properties") {
            Some(Value::Object(settings)) => std::mem::take(settings),
            _ => Map::new(),
        }
    }
}

/// Settings of models that have none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoSettings {}

/// Why a model cannot be read.
#[derive(Debug, PartialEq)]
pub struct Misfit {
    /// The setting; empty for the model as a whole.
    pub(super) key: String,
    pub(super) message: String,
}

impl Misfit {
    fn new(key: &str, message: impl fmt::Display) -> Self {
        Self {
            key: key.to_owned(),
            message: message.to_string(),
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key.as_str() {
            "" => formatter.write_str(&self.message),
            key => write!(formatter, "`{key}`: {}", self.message),
        }
    }
}

impl<K: ModelKind> Model<K> {
    /// Reads a model as a mapping writes it.
    pub(super) fn read(written: &Value) -> Result<Self, Misfit> {
        #[derive(Deserialize)]
        struct Named {
            provider: String,
            name: String,
        }
        let mut settings = Map::deserialize(written).map_err(|error| {
            let model = "a model such as `{provider: embedded, name: static-minilm}`";
            Misfit::new("", error.to_string().replace("a map", model))
        })?;
        let Named { provider, name } =
            serde_path_to_error::deserialize(written).map_err(|error| {
                let key = error.path().to_string();
                Misfit::new(key.trim_matches('.'), error.into_inner())
            })?;
        settings.retain(|key, value| key != "provider" && key != "name" && !value.is_null());
        let kind = read_kind(&provider, &name, settings)?;
        Ok(Self {
            provider,
            name,
            kind,
        })
    }

    /// The provider and the name of the model that is asked in the end.
    pub fn asked(&self) -> (&str, &str) {
        self.kind.asked(&self.provider, &self.name)
    }

    fn describe(generator: &mut SchemaGenerator) -> Schema {
        let [_, provider, name] = K::SCHEMA;
        let mut properties = Map::new();
        for (key, description) in [("provider", provider), ("name", name)] {
            let text = json!({"type": "string", "description": description});
            properties.insert(key.to_owned(), text);
        }
        for provided in K::PROVIDERS {
            for (key, schema) in provided.settings(generator) {
                properties.entry(key).or_insert(schema);
            }
        }
        json_schema!({
            "type": ["object", "string"],
            "pattern": "^[^:]+:.+",
            "description": "One model: a mapping, or `PROVIDER:NAME`. A layer that names another `provider` replaces the whole model of the layers below it. One that \
                            names another `name` replaces `vector_dim` and what else is true of the model's weights alone.",
            "properties": properties,
            "required": ["provider", "name"],
            "additionalProperties": false,
        })
    }
}

/// Reads the settings of a model beside its provider and its name.
fn read_kind<K: ModelKind>(
    provider: &str,
    name: &str,
    settings: Map<String, Value>,
) -> Result<K, Misfit> {
    let provided_by = K::provider(provider, name)?;
    let provided = K::PROVIDERS.iter().find(|it| it.name == provided_by);
    let provided = provided.expect("the name is one of the list");
    let known = |it: &Provided<K>| it.settings(&mut SchemaGenerator::default());
    let own = known(provided);
    if let Some(key) = settings.keys().find(|key| !own.contains_key(*key)) {
        let others = K::PROVIDERS.iter();
        let others = others.filter(|it| known(it).contains_key(key));
        let others: Vec<String> = others.map(|it| in_backticks(it.name)).collect();
        let this = match provided_by {
            "openai" => provider,
            other => other,
        };
        let message = match others.as_slice() {
            [] => format!("no {} have this setting", K::MODELS),
            others => format!(
                "{} of {} do not have this setting; those of {} do",
                K::MODELS,
                in_backticks(this),
                others.join(" and ")
            ),
        };
        return Err(Misfit::new(key, message));
    }
    // Settings of several groups are read without their places, so the one that is wrong is found by reading each alone.
    (provided.read)(Value::Object(settings.clone())).map_err(|error| {
        let alone = |(key, value): (String, Value)| {
            let error = (provided.read)(json!({&key: value})).err()?;
            Some(Misfit::new(&key, error))
        };
        let wrong = settings.into_iter().find_map(alone);
        wrong.unwrap_or_else(|| Misfit::new("", error))
    })
}

/// The name of a provider as messages have it: `llm (ollama)` is the provider `llm` with a chat model of Ollama.
fn in_backticks(provider: &str) -> String {
    match provider.split_once(" (") {
        Some((provider, rest)) => format!("`{provider}` ({rest}"),
        None => format!("`{provider}`"),
    }
}

/// Reads settings as those of a variant.
fn variant<S: DeserializeOwned, K>(written: Value, variant: fn(S) -> K) -> serde_json::Result<K> {
    serde_json::from_value(written).map(variant)
}

impl<'de, K: ModelKind> Deserialize<'de> for Model<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = Value::deserialize(deserializer)?;
        Self::read(&written).map_err(D::Error::custom)
    }
}

impl<K: ModelKind> JsonSchema for Model<K> {
    fn schema_name() -> Cow<'static, str> {
        K::SCHEMA[0].into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Self::describe(generator)
    }
}

/// The type of numbers that a local model computes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// 32-bit floats, as most models are published.
    F32,
    /// 8-bit integers.
    Int8,
}

/// Where the files of a local model are from, and how they are computed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LocalSettings {
    /// Local models: branch, tag or commit on the hub. The default is `main`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Local models: the type of numbers to compute in, `f32` or the faster `int8`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dtype: Option<Dtype>,
}

/// The role that a model plays in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Turns texts into vectors.
    Embedder,
    /// Answers questions.
    Answerer,
    /// Judges answers.
    Judge,
    /// Puts search results into a better order.
    Reranker,
    /// Rewrites questions of conversations.
    Rewriter,
    /// Plays the user of conversations.
    User,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 6] = [
        Self::Embedder,
        Self::Answerer,
        Self::Judge,
        Self::Reranker,
        Self::Rewriter,
        Self::User,
    ];

    /// The dotted path of the setting that names the model.
    pub const fn path(self) -> &'static str {
        match self {
            Self::Embedder => "embeddings.model",
            Self::Answerer => "qa.model",
            Self::Judge => "evaluations.judge",
            Self::Reranker => "reranking.model",
            Self::Rewriter => "search.rewriter",
            Self::User => "conversations.user",
        }
    }

    /// Checks the model in all settings, as they are written. Only a reranker, a rewriter and a user can be missing.
    pub(crate) fn check(self, settings: &Value) -> Result<(), Misfit> {
        let pointer = format!("/{}", self.path().replace('.', "/"));
        let Some(model) = settings.pointer(&pointer) else {
            return Ok(());
        };
        match self {
            Self::Embedder => Model::<EmbedderKind>::read(model).map(drop),
            Self::Reranker | Self::Rewriter | Self::User if model.is_null() => Ok(()),
            Self::Answerer | Self::Judge | Self::Rewriter | Self::User => {
                Model::<ChatKind>::read(model).map(drop)
            }
            Self::Reranker => Model::<RerankerKind>::read(model).map(drop),
        }
    }
}

/// The protocol of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// Ollama's.
    Ollama,
    /// OpenAI's, which most servers speak.
    OpenAi,
}

/// Settings of every model behind a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Connection {
    /// The address of the server, instead of the provider's.
    #[serde(
        serialize_with = "redacted_address",
        skip_serializing_if = "Option::is_none"
    )]
    pub base_url: Option<String>,
    /// The name of the environment variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Time limit of one request, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Most requests in flight at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrency: Option<NonZeroUsize>,
    /// Further fields of every request, sent unchanged.
    #[serde(
        serialize_with = "serialize_fields",
        skip_serializing_if = "Map::is_empty"
    )]
    pub extra_body: Map<String, Value>,
}

/// Writes an address without its user name and password, because settings are printed and stored.
#[expect(clippy::ref_option, reason = "the signature is serde's")]
pub(crate) fn redacted_address<S: Serializer>(
    address: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let address = address.as_deref().map(redaction::address);
    address.serialize(serializer)
}

/// Writes fields of a request with credentials redacted.
fn serialize_fields<S: Serializer>(
    fields: &Map<String, Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    redacted_fields(fields).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layer, json_schema, resolve};

    /// The message about a setting of a model, without its place.
    fn checked(path: &str, model: &str) -> Result<(), String> {
        let layer = Layer::assignments(&[format!("{path}={model}")]).map_err(|error| {
            let message = error.to_string();
            message.split_once(": ").unwrap().1.to_owned()
        })?;
        let resolved = resolve(layer.into_iter().collect());
        let place = format!("`--set`: bad value for `{path}.");
        resolved
            .map(drop)
            .map_err(|error| error.to_string().strip_prefix(&place).unwrap().to_owned())
    }

    #[test]
    fn what_would_be_ignored_is_refused_with_the_models_that_have_it() {
        for (path, model, expected) in [
            (
                "qa.model",
                "{provider: groq, name: m, num_ctx: 8192}",
                "num_ctx`: chat models of `groq` do not have this setting; those of `ollama` do",
            ),
            (
                "qa.model",
                "{provider: embedded, name: m, seed: 1}",
                "seed`: chat models of `embedded` do not have this setting; those of `ollama` and `openai` do",
            ),
            (
                "evaluations.judge",
                "{provider: ollama, name: m, reasoning_effort: low}",
                "reasoning_effort`: chat models of `ollama` do not have this setting; those of `openai` do",
            ),
            (
                "embeddings.model",
                "{provider: openai, name: m, keep_alive: 5m}",
                "keep_alive`: embedding models of `openai` do not have this setting; those of `ollama` do",
            ),
            (
                "reranking.model",
                "{provider: http, name: m, dtype: int8}",
                "dtype`: rerankers of `http` do not have this setting; those of `local` do",
            ),
            (
                "reranking.model",
                "{provider: http, name: m, temperature: 0}",
                "temperature`: rerankers of `http` do not have this setting; those of `llm` (ollama) and `llm` (openai) do",
            ),
            (
                "reranking.model",
                "{provider: llm, name: \"ollama:m\", reasoning_effort: low}",
                "reasoning_effort`: rerankers of `llm` (ollama) do not have this setting; those of `llm` (openai) do",
            ),
        ] {
            assert_eq!(checked(path, model).unwrap_err(), expected);
        }
    }

    #[test]
    fn what_no_model_of_the_role_has_is_unknown() {
        for (path, field) in [
            ("qa.model", "query_prefix"),
            ("evaluations.judge", "pooling"),
            ("embeddings.model", "num_ctx"),
            ("reranking.model", "vector_dim"),
        ] {
            let message = checked(path, &format!("{{provider: ollama, name: m, {field}: 5}}"));
            let expected = format!("unknown setting `{path}.{field}`");
            assert!(message.unwrap_err().starts_with(&expected), "{path}");
        }
    }

    #[test]
    fn what_means_something_is_taken() {
        for (path, model) in [
            (
                "qa.model",
                "provider: openai, name: m, reasoning_effort: low",
            ),
            ("qa.model", "provider: ollama, name: m, num_ctx: 8192"),
            (
                "evaluations.judge",
                "provider: groq, name: m, extra_body: {top_p: 1}",
            ),
            (
                "embeddings.model",
                "provider: ollama, name: m, keep_alive: 5m",
            ),
            (
                "embeddings.model",
                "provider: openai, name: m, max_tokens: 512",
            ),
            ("embeddings.model", "provider: local, name: m, dtype: int8"),
            (
                "reranking.model",
                "provider: http, name: m, extra_body: {a: 1}",
            ),
            (
                "reranking.model",
                "provider: llm, name: \"ollama:m\", num_ctx: 8192, max_tokens: 100",
            ),
        ] {
            assert_eq!(
                checked(path, &format!("{{{model}}}")),
                Ok(()),
                "{path} {model}"
            );
        }
    }

    #[test]
    fn a_wrong_value_is_named_in_every_group_of_settings() {
        for (field, expected) in [
            (
                "timeout: soon",
                "timeout`: expected a number, found the text \"soon\"",
            ),
            (
                "max_tokens: 0",
                "max_tokens`: expected a whole number of at least 1, found `0`",
            ),
            (
                "extra_body: 3",
                "extra_body`: expected a mapping, found `3`",
            ),
        ] {
            let message = checked(
                "qa.model",
                &format!("{{provider: ollama, name: m, {field}}}"),
            );
            assert_eq!(message.unwrap_err(), expected);
        }
    }

    #[test]
    fn a_reranker_names_a_provider_that_reranks() {
        for (model, expected) in [
            (
                "{provider: mxbai, name: mxbai-rerank-base-v2}",
                "provider`: unknown reranker provider `mxbai`; use `http`, `llm` or `local`",
            ),
            (
                "{provider: lokal, name: a/b}",
                "provider`: unknown reranker provider `lokal`; use `http`, `llm` or `local`; did you mean `local`?",
            ),
            (
                "{provider: llm, name: qwen3}",
                "name`: name the provider of the chat model too, as in `ollama:qwen3`",
            ),
        ] {
            assert_eq!(checked("reranking.model", model).unwrap_err(), expected);
        }
        let written = json!({"provider": "llm", "name": "ollama:qwen3:4b", "num_ctx": 8192});
        let reranker = Model::<RerankerKind>::read(&written).unwrap();
        assert_eq!(reranker.asked(), ("ollama", "qwen3:4b"));
        assert_eq!(serde_json::to_value(&reranker).unwrap(), written);
    }

    #[test]
    fn a_schema_has_every_setting_of_a_role_with_its_meaning() {
        let schema = json_schema();
        for (role, own) in [
            ("EmbeddingModel", "pooling"),
            ("ChatModel", "think"),
            ("Reranker", "instruction"),
        ] {
            let settings = schema["$defs"][role]["properties"].as_object().unwrap();
            for key in ["provider", "name", "base_url", "max_tokens", own] {
                assert!(settings.contains_key(key), "{role}: {key}");
            }
            for (key, setting) in settings {
                assert!(setting["description"].is_string(), "{key}");
            }
        }
    }
}
