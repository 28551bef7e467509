//! The body of a request, as the settings write it.

use evals_models::{redacted, redacted_fields};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

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

#[cfg(test)]
mod tests {
    use evals_messages::credential::REDACTED;
    use serde_json::json;

    use super::*;

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
