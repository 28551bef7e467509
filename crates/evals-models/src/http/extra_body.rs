//! Fields that users add to every request.

use serde_json::{Map, Value};

use super::SettingsError;

/// Fails if a field is one that the program fills itself.
pub(super) fn check(extra: &Map<String, Value>, reserved: &[&str]) -> Result<(), SettingsError> {
    match reserved.iter().find(|field| extra.contains_key(**field)) {
        Some(field) => Err(SettingsError::ReservedField {
            field: (*field).to_owned(),
        }),
        None => Ok(()),
    }
}

/// Puts the extra fields into a request; they replace what is there. Objects are merged, so that one of Ollama's `options` can
/// be set without the others.
pub(super) fn merge(body: &mut Map<String, Value>, extra: &Map<String, Value>) {
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
