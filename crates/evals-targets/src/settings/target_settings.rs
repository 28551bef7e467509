//! The section `target:`.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};

use evals_messages::credential::is_credential;
use evals_messages::nearest;
use schemars::{JsonSchema, Schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{
    Body, MatchSettings, PromptSource, ResponseSettings, SettingsProblem, StreamSettings, Written,
};
use crate::TargetAddress;
use crate::mapping::{Mapping, StreamReader};
use crate::request_template::{BodyTemplate, Parameter};
use crate::template::Template;

/// A target and how it is asked: the section `target:`, written as a mapping or as the address alone.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Deserialize, Serialize)]
#[serde(remote = "Self", default, deny_unknown_fields)]
#[schemars(transform = or_an_address)]
pub struct TargetSettings {
    /// `http://…`, `https://…`, `exec:COMMAND`, `chat:PROVIDER:NAME`, `outputs:FILE` or `trec:FILE`.
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
    /// Services: the body, a template over `id`, `question`, `inputs`, `k` and `repeat`, or JSON whose texts are such templates. The default
    /// is `{"id": …, "question": …}`, or the inputs of a dataset file's case as they are.
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
    /// A target with no settings but its address.
    pub fn at(address: TargetAddress) -> Self {
        Self {
            address: Some(address),
            ..Self::default()
        }
    }

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
            unknown_key(path)
                .unwrap_or_else(|| SettingsProblem::new(path, error.inner().to_string()))
        })
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

impl TargetSettings {
    /// Checks values that have the right type: every template, path and header, and that each setting applies to the target.
    ///
    /// Nothing is asked and no environment variable is read.
    pub fn check(&self) -> Result<(), SettingsProblem> {
        let Some(address) = &self.address else {
            return Err(SettingsProblem::new(
                "address",
                "is missing; name the target here or with `--target`",
            ));
        };
        self.check_kind(address)?;
        if let TargetAddress::Http(url) = address {
            check_url(url)?;
        }
        if let Some(method) = &self.method
            && !METHODS.contains(&method.to_ascii_uppercase().as_str())
        {
            let known = METHODS.map(|method| format!("`{method}`")).join(", ");
            return Err(SettingsProblem::new(
                "method",
                format!("`{method}` is not one of {known}"),
            ));
        }
        for (name, value) in &self.headers {
            let key = format!("headers.{name}");
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err(SettingsProblem::new(key, "is not the name of a header"));
            }
            Written::parse(value).map_err(|message| SettingsProblem::new(key, message))?;
        }
        for (name, value) in &self.query {
            let key = format!("query.{name}");
            Parameter::of(value).map_err(|message| SettingsProblem::new(key, message))?;
        }
        if let Some(body) = &self.body {
            BodyTemplate::of(body)?;
        }
        if let Some(PromptSource::Text(prompt)) = &self.prompt {
            Template::new(prompt)
                .map_err(|error| SettingsProblem::new("prompt", error.to_string()))?;
        }
        Mapping::new(&self.response)?;
        if let Some(stream) = &self.stream {
            StreamReader::new(stream)?;
        }
        if self
            .timeout
            .is_some_and(|timeout| !(timeout > 0.0 && timeout <= LONGEST))
        {
            return Err(SettingsProblem::new(
                "timeout",
                "must be more than 0 seconds and at most a day",
            ));
        }
        Ok(())
    }

    /// Refuses settings that have no meaning for the target, because they would be ignored.
    fn check_kind(&self, address: &TargetAddress) -> Result<(), SettingsProblem> {
        let of_services = [
            ("method", self.method.is_some()),
            ("headers", !self.headers.is_empty()),
            ("query", !self.query.is_empty()),
            ("body", self.body.is_some()),
            ("stream", self.stream.is_some()),
            ("max_attempts", self.max_attempts.is_some()),
            ("requests_per_minute", self.requests_per_minute.is_some()),
        ];
        let of_commands = ("processes", self.processes.is_some());
        let foreign = match address {
            TargetAddress::Http(_) => vec![("prompt", self.prompt.is_some()), of_commands],
            TargetAddress::Exec(_) => {
                let chat = [("prompt", self.prompt.is_some())];
                of_services.into_iter().chain(chat).collect()
            }
            TargetAddress::Outputs(_) => {
                let others = [("prompt", self.prompt.is_some()), of_commands];
                of_services.into_iter().chain(others).collect()
            }
            TargetAddress::Chat { .. } => {
                let replies = [
                    ("response", self.response != ResponseSettings::default()),
                    of_commands,
                ];
                of_services.into_iter().chain(replies).collect()
            }
            TargetAddress::Trec(_) => {
                let others = [
                    ("prompt", self.prompt.is_some()),
                    ("response", self.response != ResponseSettings::default()),
                    of_commands,
                ];
                of_services.into_iter().chain(others).collect()
            }
        };
        match foreign.into_iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => Err(SettingsProblem::new(
                key,
                format!("has no meaning for a target `{}:`", address.scheme()),
            )),
            None => Ok(()),
        }
    }
}

/// A day, in seconds.
const LONGEST: f64 = 86_400.0;

/// The methods that requests with a question can have.
const METHODS: [&str; 4] = ["GET", "POST", "PUT", "PATCH"];

/// Refuses credentials in an address, because addresses are stored and shown. Messages do not repeat it.
fn check_url(url: &str) -> Result<(), SettingsProblem> {
    let problem = |message: &str| SettingsProblem::new("address", message);
    let (_, rest) = url.split_once("//").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(problem(
            "may not have a user name or a password; send them with `headers`, such as `Authorization: Basic ${TOKEN}`",
        ));
    }
    if authority.is_empty() || url.contains(char::is_whitespace) {
        return Err(problem("is not a URL"));
    }
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let names = query
        .split(['&', ';'])
        .map(|pair| pair.split('=').next().unwrap_or(pair));
    match names.into_iter().find(|name| is_credential(name)) {
        Some(name) => Err(SettingsProblem::new(
            "address",
            format!(
                "may not hold a credential; send it with `query`, such as `{name}: ${{TOKEN}}`"
            ),
        )),
        None => Ok(()),
    }
}

/// Whether a byte may be part of the name of a header.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> TargetSettings {
        TargetSettings::from_value(value).unwrap()
    }

    fn problem(value: Value) -> String {
        let read = TargetSettings::from_value(value);
        read.and_then(|settings| settings.check())
            .unwrap_err()
            .to_string()
    }

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
        let settings = read(written.clone());
        settings.check().unwrap();
        assert_eq!(serde_json::to_value(&settings).unwrap(), written);
        let parameters = Value::Object(settings.parameters());
        assert_eq!(parameters["headers"]["Authorization"], "Bearer ${TOKEN}");
        for other in ["address", "version", "timeout", "max_concurrency", "match"] {
            assert_eq!(parameters.get(other), None);
        }
    }

    #[test]
    fn a_credential_is_not_written() {
        let settings = read(json!({
            "address": "http://h", "headers": {"X-Api-Key": "sk-1"}, "query": {"token": "sk-2"}, "body": {"key": "sk-3"},
        }));
        let shown = serde_json::to_string(&settings).unwrap();
        assert!(!shown.contains("sk-"), "{shown}");
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
            (
                json!(7),
                "`target`: invalid type: integer `7`, expected an address such as",
            ),
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
                "`target.max_concurrency`: invalid value: integer `0`",
            ),
            (
                json!({"match": {"by": "title"}}),
                "`target.match.by`: unknown variant `title`",
            ),
            (
                json!({"stream": 3}),
                "`target.stream`: invalid type: integer `3`, expected `true` or a mapping",
            ),
        ] {
            let message = problem(value);
            assert!(message.starts_with(start), "{message}");
        }
    }

    #[test]
    fn values_that_cannot_be_used_are_found_before_the_run() {
        for (value, start) in [
            (json!({}), "`target.address`: is missing"),
            (
                json!("http://me:pw@host"),
                "`target.address`: may not have a user name or a password",
            ),
            (
                json!("http://host/x?api_key=abc"),
                "`target.address`: may not hold a credential; send it with `query`, such as `api_key: ${TOKEN}`",
            ),
            (
                json!({"address": "http://h", "method": "FETCH"}),
                "`target.method`: `FETCH` is not one of",
            ),
            (
                json!({"address": "http://h", "headers": {"a b": "x"}}),
                "`target.headers.a b`: is not the name of a header",
            ),
            (
                json!({"address": "http://h", "headers": {"a": "${"}}),
                "`target.headers.a`: `${` has to be followed",
            ),
            (
                json!({"address": "http://h", "query": {"q": "{{ qestion }}"}}),
                "`target.query.q`: `qestion` does not exist",
            ),
            (
                json!({"address": "http://h", "body": {"a": ["{{ x }}"]}}),
                "`target.body.a.0`: `x` does not exist",
            ),
            (
                json!({"address": "http://h", "response": {"answer": "answer"}}),
                "`target.response.answer`: `answer` is not a JSONPath",
            ),
            (
                json!({"address": "http://h", "stream": {"text": "$["}}),
                "`target.stream.text`: `$[` is not a JSONPath",
            ),
            (
                json!({"address": "http://h", "prompt": "x"}),
                "`target.prompt`: has no meaning for a target `http:`",
            ),
            (
                json!({"address": "exec:x", "headers": {"a": "b"}}),
                "`target.headers`: has no meaning for a target `exec:`",
            ),
            (
                json!({"address": "http://h", "timeout": 0}),
                "`target.timeout`: must be more than 0 seconds",
            ),
        ] {
            let message = problem(value);
            assert!(message.starts_with(start), "{message}");
        }
    }

    #[test]
    fn the_schema_knows_both_forms() {
        let schema = schemars::schema_for!(TargetSettings).to_value();
        let forms = schema["anyOf"].as_array().unwrap();
        assert!(forms[0]["properties"]["address"].is_object());
        assert_eq!(forms[1]["type"], "string");
    }
}
