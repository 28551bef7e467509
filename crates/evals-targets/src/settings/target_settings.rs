//! The section `target:`.

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use evals_messages::{mismatch, nearest};
use evals_models::{redacted, redacted_fields};
use schemars::{JsonSchema, Schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{PromptSource, ResponseSettings, SettingsProblem, StreamSettings, Written};
use crate::template::Template;
use crate::{Request, TargetAddress};

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

    /// Whether a request needs the question's vector. A template may use it for some values of its parameters alone.
    pub fn uses_vector(&self) -> bool {
        let mut probe = Request::question("id", "question");
        probe.k = Some(1);
        let mut with_vector = probe.clone();
        with_vector.vector = Some([1.0].into());
        // A filter such as `tojson` writes a missing vector as null.
        let is_needed = |it: &Template| {
            let without = it.fill(&probe);
            it.uses("vector") && (without.is_err() || without.ok() != it.fill(&with_vector).ok())
        };
        !self.parameters.contains_key("vector") && self.templates().iter().any(is_needed)
    }

    /// The same with a filter, for the name `filter` of templates, or of the search of a table.
    ///
    /// # Errors
    ///
    /// No template uses it.
    pub fn with_filter(mut self, filter: &str) -> Result<Self, SettingsProblem> {
        let is_table = matches!(self.address, Some(TargetAddress::LanceDb { .. }));
        if !is_table && !self.templates().iter().any(|it| it.uses("filter")) {
            let message =
                "no template of the target uses `{{ filter }}`, so a filter would be ignored";
            return Err(SettingsProblem::new("", message));
        }
        let parameters = Arc::make_mut(&mut self.parameters);
        parameters.insert("filter".to_owned(), filter.into());
        Ok(self)
    }

    /// The templates of a request. Texts that are none are left out.
    fn templates(&self) -> Vec<Template> {
        let mut texts: Vec<&str> = self.query.values().map(String::as_str).collect();
        match &self.body {
            Some(Body::Text(text)) => texts.push(text),
            Some(Body::Mapping(fields)) => fields.values().for_each(|it| add_texts(it, &mut texts)),
            Some(Body::List(values)) => values.iter().for_each(|it| add_texts(it, &mut texts)),
            None => {}
        }
        if let Some(PromptSource::Text(statement)) = &self.statement {
            texts.push(statement);
        }
        let texts = texts.into_iter();
        let templates = texts.filter_map(|text| Template::with(text, &self.parameters).ok());
        templates.collect()
    }

    /// `text`, which is the setting `key`, with the parameters in it.
    ///
    /// # Errors
    ///
    /// It is no template, or uses names that only a request has.
    pub fn with_parameters(&self, key: &str, text: &str) -> Result<String, SettingsProblem> {
        let problem = |message: String| SettingsProblem::new(key, message);
        let template = Template::with(text, &self.parameters);
        let template = template.map_err(|error| problem(error.to_string()))?;
        match template.fill_parameters() {
            Some(filled) => filled.map_err(|error| problem(error.to_string())),
            None => Err(problem(
                "may use names of `parameters` only, because it is the same for every question"
                    .to_owned(),
            )),
        }
    }

    /// The address of a service with the parameters in it.
    ///
    /// # Errors
    ///
    /// As for [`with_parameters`](Self::with_parameters).
    pub fn url(&self, url: &str) -> Result<String, SettingsProblem> {
        if !url.contains("{{") && !url.contains("{%") {
            return Ok(url.to_owned());
        }
        self.with_parameters("address", url)
    }

    /// A target with no settings but its address.
    pub fn at(address: TargetAddress) -> Self {
        Self {
            address: Some(address),
            ..Self::default()
        }
    }

    /// Whether requests say what was said before a question, or which conversation it is part of. Templates may not.
    pub fn sends_conversations(&self) -> bool {
        let names = |text: &str| text.contains("messages") || text.contains("conversation");
        let of_query = self.query.values().any(|text| names(text));
        let is_get = self
            .method
            .as_ref()
            .is_some_and(|it| it.eq_ignore_ascii_case("GET"));
        let of_body = match &self.body {
            None => !is_get,
            Some(body) => {
                let text = serde_json::to_string(body).unwrap_or_default();
                let is_added = matches!(body, Body::Mapping(_))
                    && self.query.is_empty()
                    && !text.contains("{{");
                is_added || names(&text)
            }
        };
        of_query || of_body
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

/// Adds the texts in a value.
fn add_texts<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|it| add_texts(it, texts)),
        Value::Object(fields) => fields.values().for_each(|it| add_texts(it, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
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

impl TargetSettings {
    /// Reads the section from JSON or YAML, whose positions the caller knows.
    ///
    /// # Errors
    ///
    /// A key is unknown, or a value has the wrong type. [`check`](Self::check) finds values of the right type that cannot be used.
    pub fn from_value(value: Value) -> Result<Self, SettingsProblem> {
        serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            // The root is a lone dot, and a place that serde cannot name a question mark.
            let path = path.trim_matches(['.', '?']);
            unknown_key(path).unwrap_or_else(|| {
                let message = mismatch::in_yaml(&error.inner().to_string());
                SettingsProblem::new(path, message)
            })
        })
    }
}

/// The problem of a path that ends in a key which does not exist. Serde reports it at the unknown key.
fn unknown_key(path: &str) -> Option<SettingsProblem> {
    if path.is_empty() {
        return None;
    }
    let schema = schemars::schema_for!(TargetSettings).to_value();
    let mut section = &schema;
    let mut keys = path.split('.').peekable();
    while let Some(key) = keys.next() {
        let properties = properties(&schema, section)?;
        let Some(property) = properties.get(key) else {
            let known = properties.keys().map(String::as_str);
            let nearest = nearest::of(key, known);
            let is_last = keys.peek().is_none();
            let message = format!("unknown key{}", nearest::did_you_mean(nearest));
            return is_last.then(|| SettingsProblem::new(path, message));
        };
        section = property;
    }
    None
}

/// The properties of a mapping, which may be one of several alternatives or a reference.
fn properties<'s>(root: &'s Value, schema: &'s Value) -> Option<&'s Map<String, Value>> {
    if let Some(properties) = schema.get("properties") {
        return properties.as_object();
    }
    if let Some(alternatives) = schema.get("anyOf").and_then(Value::as_array) {
        return alternatives.iter().find_map(|one| properties(root, one));
    }
    let reference = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
    properties(root, root.pointer(reference)?)
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

    fn with_body(body: &Value) -> TargetSettings {
        let settings = json!({"address": "http://h/{{ index }}", "body": body, "parameters": {"index": "news"}});
        TargetSettings::from_value(settings).unwrap()
    }

    #[test]
    fn templates_say_whether_they_use_the_vector_and_the_filter() {
        for (body, vector, filter) in [
            (json!("{{ question }}"), false, false),
            (
                json!(
                    "{% if filter is defined %}{{ k }}{% else %}{{ vector | tojson }}{% endif %}"
                ),
                true,
                true,
            ),
            (
                json!("{% if index == \"words\" %}{{ vector }}{% else %}{{ question }}{% endif %}"),
                false,
                false,
            ),
            (
                json!({"a": [{"v": "{{ vector }}"}, {"f": "x"}]}),
                true,
                false,
            ),
            (json!([{"f": "{{ filter }}"}]), false, true),
        ] {
            let settings = with_body(&body);
            assert_eq!(settings.uses_vector(), vector, "{body}");
            assert_eq!(settings.with_filter("x").is_ok(), filter, "{body}");
        }
        let filtered = with_body(&json!("{{ filter }}")).with_filter("year > 2020");
        let parameters = filtered.unwrap().parameters();
        assert_eq!(parameters["parameters"]["filter"], "year > 2020");
        let mut own = with_body(&json!("{{ vector }}"));
        Arc::make_mut(&mut own.parameters).insert("vector".to_owned(), json!([1]));
        assert!(!own.uses_vector());
    }

    #[test]
    fn an_address_may_have_parameters_and_nothing_else() {
        let settings = with_body(&json!({}));
        let url = |url: &str| settings.url(url).map_err(|problem| problem.to_string());
        assert_eq!(url("http://h/{{ index }}"), Ok("http://h/news".to_owned()));
        let refused = "`target.address`: may use names of `parameters` only";
        assert!(
            url("http://h/{{ question }}")
                .unwrap_err()
                .starts_with(refused)
        );
        assert!(url("http://h/{{ nobody }}").is_err());
        assert_eq!(url("http://h/{x}"), Ok("http://h/{x}".to_owned()));
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

#[cfg(test)]
mod reading_tests {
    use serde_json::json;

    use super::*;

    fn problem(value: Value) -> String {
        TargetSettings::from_value(value).unwrap_err().to_string()
    }

    #[test]
    fn unknown_keys_name_the_nearest_one() {
        for (value, message) in [
            (
                json!({"adress": "http://h"}),
                "`target.adress`: unknown key; did you mean `address`?",
            ),
            (
                json!({"response": {"document": "$"}}),
                "`target.response.document`: unknown key; did you mean `documents`?",
            ),
            (
                json!({"response": {"usage": {"inputs": "$"}}}),
                "`target.response.usage.inputs`: unknown key",
            ),
            (
                json!({"stream": {"field": "$.x"}}),
                "`target.stream.field`: unknown key",
            ),
            (
                json!({"match": {"treshold": 1}}),
                "`target.match.treshold`: unknown key; did you mean `threshold`?",
            ),
        ] {
            assert_eq!(problem(value), message);
        }
    }

    #[test]
    fn values_of_the_wrong_type_are_placed() {
        for (value, start) in [
            (json!(7), "`target`: expected an address such as"),
            (
                json!("python x.py"),
                "`target`: `python x.py` names no target; write",
            ),
            (
                json!({"address": "ftp://x"}),
                "`target.address`: `ftp://x` names no target",
            ),
            (
                json!({"max_concurrency": 0}),
                "`target.max_concurrency`: expected a whole number of at least 1, found `0`",
            ),
            (
                json!({"match": {"by": "title"}}),
                "`target.match.by`: unknown value `title`",
            ),
            (
                json!({"stream": 3}),
                "`target.stream`: expected `true` or a mapping with `text` and `done`, found `3`",
            ),
        ] {
            let message = problem(value);
            assert!(message.starts_with(start), "{message}");
        }
    }
}
