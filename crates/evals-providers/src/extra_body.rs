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

/// Fails if one of Ollama's `options` is one that the program fills itself; `reserved` are their paths.
pub(super) fn check_options(
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
