//! Reads the section from JSON or YAML.

use evals_messages::{mismatch, nearest};
use serde_json::{Map, Value};

use super::{SettingsProblem, TargetSettings};

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
