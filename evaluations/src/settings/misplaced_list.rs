//! Finds a list in place of a mapping, by the JSON Schema of the settings.

use serde_json::Value;

use super::known::target;

/// The dotted path of the first list in place of a mapping. Serde would read its elements as the fields, one by one.
pub(super) fn find(schema: &Value, settings: &Value) -> Option<String> {
    let path = path(schema, schema, settings)?;
    Some(path.join("."))
}

/// The keys down to the list.
fn path<'v>(root: &Value, schema: &Value, value: &'v Value) -> Option<Vec<&'v str>> {
    let schema = target(root, schema);
    let Value::Object(members) = value else {
        return (value.is_array() && is_mapping(schema)).then(Vec::new);
    };
    members.iter().find_map(|(key, member)| {
        let property = schema["properties"].get(key);
        let member_schema = property.or_else(|| schema.get("additionalProperties"))?;
        let mut keys = path(root, member_schema, member)?;
        keys.insert(0, key);
        Some(keys)
    })
}

/// Whether a value of the schema is a mapping or null.
fn is_mapping(schema: &Value) -> bool {
    match &schema["type"] {
        Value::Array(types) => types.iter().all(|it| it == "object" || it == "null"),
        one => one == "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::json_schema;

    #[test]
    fn a_list_is_found_where_the_settings_have_a_mapping() {
        let schema = json_schema();
        for (settings, path) in [
            (
                json!({"search": {"limit": 3, "index": ["ivf-flat"]}}),
                "search.index",
            ),
            (json!({"search": []}), "search"),
            (json!({"qa": {"model": ["openai", "mine"]}}), "qa.model"),
            (
                json!({"providers": {"openai": ["http://127.0.0.1"]}}),
                "providers.openai",
            ),
            (json!({"store": ["http://127.0.0.1"]}), "store"),
            (json!({"target": ["http://127.0.0.1"]}), "target"),
        ] {
            assert_eq!(find(&schema, &settings).as_deref(), Some(path));
        }
    }

    #[test]
    fn lists_and_values_of_any_type_are_no_faults() {
        let settings = json!({
            "matrix": {"search.limit": [1, 2]},
            "qa": {"model": {"extra_body": {"stop": ["a"]}}},
        });
        assert_eq!(find(&json_schema(), &settings), None);
    }
}
