//! `extra_body`: fields that users add to every request.

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::SettingsError;

/// A request with the user's extra fields, which replace those of the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extended<'a, T> {
    pub(crate) request: T,
    pub(crate) extra_body: &'a Map<String, Value>,
}

impl<T: Serialize> Serialize for Extended<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.extra_body.is_empty() {
            return self.request.serialize(serializer);
        }
        // Merged as JSON, because a field that was written twice would leave the choice to the server.
        let request = serde_json::to_value(&self.request).map_err(S::Error::custom)?;
        let Value::Object(mut body) = request else {
            return Err(S::Error::custom("a request that is not a JSON object"));
        };
        merge(&mut body, self.extra_body);
        body.serialize(serializer)
    }
}

/// Fails if `extra` sets one of the `reserved` fields, which the program fills itself.
pub(crate) fn check(extra: &Map<String, Value>, reserved: &[&str]) -> Result<(), SettingsError> {
    match reserved.iter().find(|field| extra.contains_key(**field)) {
        Some(field) => Err(SettingsError::ReservedField {
            field: (*field).to_owned(),
        }),
        None => Ok(()),
    }
}

/// Fails if `extra` sets one of the `reserved` options of Ollama, which the program fills itself. They are given as paths:
/// `options.num_ctx`.
pub(crate) fn check_options(
    extra: &Map<String, Value>,
    reserved: &[&str],
) -> Result<(), SettingsError> {
    let options = extra.get("options").and_then(Value::as_object);
    let set = |path: &&&str| {
        let option = path.strip_prefix("options.").unwrap_or(path);
        options.is_some_and(|options| options.contains_key(option))
    };
    match reserved.iter().find(set) {
        Some(path) => Err(SettingsError::ReservedField {
            field: (*path).to_owned(),
        }),
        None => Ok(()),
    }
}

/// Puts the extra fields into a request. Ollama's `options` are merged, so that one of them can be set without the others.
fn merge(body: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (field, value) in extra {
        match (body.get_mut(field), value) {
            (Some(Value::Object(old)), Value::Object(new)) if field == "options" => {
                old.extend(new.clone());
            }
            _ => {
                body.insert(field.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(extra: &Value) -> Value {
        let request = json!({"model": "m", "seed": 1, "options": {"num_ctx": 9, "seed": 1}});
        let extra_body = extra.as_object().unwrap();
        let extended = Extended {
            request,
            extra_body,
        };
        serde_json::to_value(extended).unwrap()
    }

    #[test]
    fn extra_fields_replace_those_of_the_request() {
        assert_eq!(
            body(&json!({"seed": 2, "top_p": 0.5})),
            json!({"model": "m", "seed": 2, "options": {"num_ctx": 9, "seed": 1}, "top_p": 0.5})
        );
        assert_eq!(body(&json!({"seed": null}))["seed"], Value::Null);
    }

    #[test]
    fn options_are_merged() {
        assert_eq!(
            body(&json!({"options": {"seed": 2, "top_k": 1}}))["options"],
            json!({"num_ctx": 9, "seed": 2, "top_k": 1})
        );
        assert_eq!(body(&json!({"options": null}))["options"], Value::Null);
    }

    #[test]
    fn no_field_is_written_twice() {
        let extra = json!({"seed": 2});
        let extended = Extended {
            request: json!({"seed": 1}),
            extra_body: extra.as_object().unwrap(),
        };
        assert_eq!(serde_json::to_string(&extended).unwrap(), r#"{"seed":2}"#);
    }
}
