//! The section `target:`.

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use evals_models::{redacted, redacted_fields};
use schemars::{JsonSchema, Schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{PromptSource, ResponseSettings, StreamSettings, Written};
use crate::TargetAddress;

/// A target and how it is asked: the section `target:`, written as a mapping or as the address alone.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Deserialize, Serialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
#[schemars(transform = or_an_address)]
pub struct TargetSettings {
    /// `http://…`, `https://…`, `exec:COMMAND`, `chat:PROVIDER:NAME`, `postgres://…`, `outputs:FILE`, `trec:FILE` or
    /// `lancedb:DATABASE#TABLE`. That of a service or a command may have `{{ NAME }}` for a parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<TargetAddress>,
    /// The version of the system under test, as reports name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Services: the method. The default is `POST`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Services: headers. `${NAME}` stands for an environment variable, whose value is neither stored nor shown.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", serialize_with = "shown")]
    pub headers: BTreeMap<String, String>,
    /// Services: parameters of the address. Each value is a template, or a text with `${NAME}`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", serialize_with = "shown")]
    pub query: BTreeMap<String, String>,
    /// Services: the body, a template over `id`, `question`, `messages`, `conversation`, `inputs`, `k`, `repeat`, `filter` and `vector` (the
    /// question embedded by `embeddings.model`), or JSON whose texts are such templates. The default is `{"id": …, "question": …}`, or the inputs of a
    /// dataset file's case as they are. A mapping without templates is added to it, unless there is a `query`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Body>,
    /// Which fields of a reply hold what.
    #[serde(skip_serializing_if = "ResponseSettings::is_default")]
    pub response: ResponseSettings,
    /// Services: whether and how the reply is streamed as server-sent events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<StreamSettings>,
    /// Chat models: the prompt, a template over `id`, `question`, `inputs`, `k` and `repeat`. The default sends the question, or the inputs
    /// of a dataset file's case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<PromptSource>,
    /// Databases: the statement in SQL that finds documents, in which `$1` is the question's vector, `$2` its text and `$3` how many documents
    /// count. `SET` statements may stand before it. It may have `{{ NAME }}` for a parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement: Option<PromptSource>,
    /// Values of your own by name, which the templates above can use like `k`. A command gets them with each request, and its line may have
    /// `{{ NAME }}`.
    #[serde(skip_serializing_if = "is_empty")]
    #[schemars(with = "BTreeMap<String, Value>")]
    pub parameters: Arc<Map<String, Value>>,
    /// LanceDB: which column of the table holds what.
    #[serde(skip_serializing_if = "ColumnSettings::is_default")]
    pub columns: ColumnSettings,
    /// Services and commands: whether the target remembers conversations by their id, and is sent the new message alone. A command then runs
    /// as one process.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub session: bool,
    /// The longest that one reply may take, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Most requests in flight at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrency: Option<NonZeroUsize>,
    /// Commands: processes. The default is one for each request in flight; with fewer, each has several requests at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<NonZeroUsize>,
    /// Services: attempts at one request before it counts as failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_attempts: Option<NonZeroU32>,
    /// Services: most requests per minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<NonZeroU32>,
    /// How the documents of a reply are matched to those of the corpus.
    #[serde(rename = "match", skip_serializing_if = "MatchSettings::is_default")]
    pub matching: MatchSettings,
}

impl TargetSettings {
    /// The names of the environment variables that headers and parameters of the address are sent with.
    pub fn variables(&self) -> BTreeSet<String> {
        let texts = self.headers.values().chain(self.query.values());
        let written = texts.filter_map(|text| Written::parse(text).ok());
        let mut names = BTreeSet::new();
        for text in written {
            names.extend(text.variables().map(str::to_owned));
        }
        names
    }

    /// A target with no settings but its address.
    pub fn at(address: TargetAddress) -> Self {
        Self {
            address: Some(address),
            ..Self::default()
        }
    }

    /// Everything that replies depend on besides the address and the version, as it may be stored and shown.
    pub fn parameters(&self) -> Map<String, Value> {
        let relevant = Self {
            address: None,
            version: None,
            timeout: None,
            max_concurrency: None,
            processes: None,
            max_attempts: None,
            requests_per_minute: None,
            matching: MatchSettings::default(),
            ..self.clone()
        };
        match serde_json::to_value(&relevant) {
            Ok(Value::Object(parameters)) => parameters,
            _ => unreachable!("settings are a mapping of plain data"),
        }
    }
}

fn is_empty(parameters: &Arc<Map<String, Value>>) -> bool {
    parameters.is_empty()
}

fn shown<S: Serializer>(
    fields: &BTreeMap<String, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let shown = fields
        .iter()
        .map(|(name, value)| (name, Written::shown(name, value)));
    serializer.collect_map(shown)
}

impl Serialize for TargetSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for TargetSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AddressOrMapping)
    }
}

struct AddressOrMapping;

impl<'de> Visitor<'de> for AddressOrMapping {
    type Value = TargetSettings;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an address such as `http://localhost:8000/ask`, or a mapping")
    }

    fn visit_str<E: serde::de::Error>(self, address: &str) -> Result<TargetSettings, E> {
        let address = address.parse().map_err(E::custom)?;
        Ok(TargetSettings::at(address))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<TargetSettings, A::Error> {
        TargetSettings::deserialize(MapAccessDeserializer::new(map))
    }
}

/// Adds the short form to the schema: the address alone.
fn or_an_address(schema: &mut Schema) {
    let mapping = std::mem::take(schema.ensure_object());
    let object = schema.ensure_object();
    let mut mapping = mapping;
    let description = mapping.remove("description");
    object.extend(description.map(|text| ("description".to_owned(), text)));
    object.insert(
        "anyOf".to_owned(),
        serde_json::json!([mapping, {"type": "string"}]),
    );
}

/// The body of a request, as the settings write it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a template, a mapping or a list")]
pub enum Body {
    /// One template, which gives the text of the body.
    Text(String),
    /// JSON whose texts are templates. A text that is one expression alone, such as `{{ k }}`, keeps its type.
    Mapping(Map<String, Value>),
    /// The same as a list.
    List(Vec<Value>),
}

/// Texts under the name of a credential are left out, because settings are stored and shown.
impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(template) => template.serialize(serializer),
            Self::Mapping(fields) => redacted_fields(fields).serialize(serializer),
            Self::List(values) => {
                let values: Vec<Value> = values.iter().map(redacted).collect();
                values.serialize(serializer)
            }
        }
    }
}

/// The columns of a table of LanceDB. Usual names and the only column of vectors are found without it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ColumnSettings {
    /// The id of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// The document's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The vector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector: Option<String>,
}

impl ColumnSettings {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How the documents of a reply are matched to those of the corpus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MatchSettings {
    /// `auto`, `id`, `rule` or `text`. The default is `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<MatchBy>,
    /// The rule: how the corpus id follows from the id in the reply. `last path segment`, or a regular expression whose first group,
    /// or else whole match, is the corpus id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// By text: the least share of a passage's 8-word shingles that its document has to contain, more than 0 and at most 1. The
    /// default is 0.6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// The criterion that decides which document of the corpus a document of a reply is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MatchBy {
    /// Its id if the corpus has it, else the rule, else its text.
    Auto,
    /// Its id, as it is.
    Id,
    /// Its id, changed by a rule.
    Rule,
    /// Its text.
    Text,
}

impl MatchSettings {
    /// The criterion, with the default if the settings do not name one.
    pub fn by(&self) -> MatchBy {
        self.by.unwrap_or(MatchBy::Auto)
    }

    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use evals_messages::credential::REDACTED;
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_read_back_as_they_were_written() {
        let written = json!({
            "address": "https://example.org/ask",
            "version": "7",
            "method": "GET",
            "headers": {"Authorization": "Bearer ${TOKEN}"},
            "query": {"q": "{{ question }}"},
            "body": {"query": "{{ question }}", "k": "{{ k }}"},
            "response": {"documents": "$.hits[*]", "document_id": "$._id", "usage": {"input_tokens": "$.in"}},
            "stream": true,
            "timeout": 2.5,
            "max_concurrency": 3,
            "match": {"by": "rule", "id": "last path segment"},
        });
        let settings = TargetSettings::from_value(written.clone()).unwrap();
        settings.check().unwrap();
        assert_eq!(serde_json::to_value(&settings).unwrap(), written);
        assert_eq!(settings.variables(), BTreeSet::from(["TOKEN".to_owned()]));
        let parameters = Value::Object(settings.parameters());
        assert_eq!(parameters["headers"]["Authorization"], "Bearer ${TOKEN}");
        for other in ["address", "version", "timeout", "max_concurrency", "match"] {
            assert_eq!(parameters.get(other), None);
        }
    }

    #[test]
    fn a_credential_is_not_written() {
        let settings = TargetSettings::from_value(json!({
            "address": "http://h", "headers": {"X-Api-Key": "sk-1"}, "query": {"token": "sk-2"}, "body": {"key": "sk-3"},
        }))
        .unwrap();
        let shown = serde_json::to_string(&settings).unwrap();
        assert!(!shown.contains("sk-"), "{shown}");
    }

    #[test]
    fn the_schema_knows_both_forms() {
        let schema = schemars::schema_for!(TargetSettings).to_value();
        let forms = schema["anyOf"].as_array().unwrap();
        assert!(forms[0]["properties"]["address"].is_object());
        assert_eq!(forms[1]["type"], "string");
    }

    #[test]
    fn credentials_in_a_body_are_not_shown() {
        let body: Body = serde_json::from_value(
            json!({"query": "{{ question }}", "auth": {"user": "me"}, "items": [{"api_key": "sk-1"}]}),
        )
        .unwrap();
        assert_eq!(
            serde_json::to_value(&body).unwrap(),
            json!({"query": "{{ question }}", "auth": {"user": REDACTED}, "items": [{"api_key": REDACTED}]})
        );
    }
}
