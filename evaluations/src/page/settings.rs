//! The settings of a run that differ from the defaults.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use crate::settings::Settings;

/// Each setting of a manifest that differs from its default, with its value: `("search.limit", "10, by default 5")`.
pub(super) fn changed(manifest: &Value) -> Result<Vec<(String, String)>> {
    let mut defaults = BTreeMap::new();
    flatten(
        "",
        &serde_json::to_value(Settings::default())?,
        &mut defaults,
    );
    let mut settings = BTreeMap::new();
    flatten("", &manifest["settings"], &mut settings);
    let changed = settings.into_iter().filter_map(|(path, value)| {
        let default = defaults.get(&path);
        if default == Some(&value) {
            return None;
        }
        let shown = match default {
            Some(default) => format!("{value}, by default {default}"),
            None => value,
        };
        Some((path, shown))
    });
    Ok(changed.collect())
}

/// The values of a tree by their dotted paths. Lists are values.
fn flatten(path: &str, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                let path = if path.is_empty() {
                    member.clone()
                } else {
                    format!("{path}.{member}")
                };
                flatten(&path, value, into);
            }
        }
        Value::Null => {}
        Value::String(text) => {
            into.insert(path.to_owned(), text.clone());
        }
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            into.insert(path.to_owned(), value.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_differs_from_the_defaults_is_listed() {
        let mut settings = serde_json::to_value(Settings::default()).unwrap();
        assert_eq!(changed(&json!({"settings": settings})).unwrap(), []);
        settings["search"]["limit"] = json!(10);
        settings["prices"]["gpt"] = json!({"input": 2.5});
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            changed(&json!({"settings": settings})).unwrap(),
            [
                pair("prices.gpt.input", "2.5"),
                pair("search.limit", "10, by default 5")
            ]
        );
    }
}
