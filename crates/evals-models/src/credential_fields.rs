//! Fields of requests in a form that may be stored and shown.

use evals_messages::credential::{REDACTED, is_credential};
use serde_json::{Map, Value};

/// A value in which every text and number under the name of a credential is replaced, at any depth.
pub fn redacted(value: &Value) -> Value {
    replaced(value, false)
}

/// Fields of a request, [`redacted`].
pub fn redacted_fields(fields: &Map<String, Value>) -> Map<String, Value> {
    replaced_fields(fields, false)
}

fn replaced(value: &Value, is_secret: bool) -> Value {
    match value {
        Value::Object(fields) => Value::Object(replaced_fields(fields, is_secret)),
        Value::Array(values) => {
            let values = values.iter().map(|value| replaced(value, is_secret));
            values.collect()
        }
        Value::String(_) | Value::Number(_) if is_secret => REDACTED.into(),
        other => other.clone(),
    }
}

fn replaced_fields(fields: &Map<String, Value>, is_secret: bool) -> Map<String, Value> {
    let fields = fields.iter().map(|(name, value)| {
        let value = replaced(value, is_secret || is_credential(name));
        (name.clone(), value)
    });
    fields.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_shown_without_their_credentials() {
        let fields = json!({
            "top_p": 0.9, "api_key": "sk-1", "user": {"token": 5, "name": "me"}, "keys": ["a", {"id": "b", "on": true}],
            "stop": ["</s>"], "key": null,
        });
        assert_eq!(
            redacted(&fields),
            json!({
                "top_p": 0.9, "api_key": "[redacted]", "user": {"token": "[redacted]", "name": "me"},
                "keys": ["[redacted]", {"id": "[redacted]", "on": true}], "stop": ["</s>"], "key": null,
            })
        );
    }
}
