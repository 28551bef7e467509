//! Finds keys that are not settings, and lists in place of mappings, by the JSON Schema of the settings.

use evals_messages::nearest;
use evals_yaml::{Entry, Tree};
use serde_json::{Map, Value};

/// A key that is not a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// The dotted path, e.g. `search.limt`.
    pub path: String,
    /// The line of the key, if the layer was read from a file.
    pub line: Option<u64>,
    /// The dotted path of the setting that was probably meant.
    pub nearest: Option<String>,
}

/// Removes the keys that `schema` does not have from `tree`, and returns them in the order of the file.
pub(crate) fn take_unknown(tree: &mut Tree, schema: &Value) -> Vec<UnknownKey> {
    let mut walk = Walk {
        root: schema,
        unknown: Vec::new(),
    };
    walk.mapping(tree, schema, "");
    walk.unknown
}

struct Walk<'s> {
    root: &'s Value,
    unknown: Vec<UnknownKey>,
}

impl<'s> Walk<'s> {
    fn mapping(&mut self, tree: &mut Tree, schema: &'s Value, prefix: &str) {
        let Tree::Mapping(entries) = tree else { return };
        let schema = target(self.root, schema);
        match schema.get("properties").and_then(Value::as_object) {
            Some(properties) => self.fixed_keys(entries, properties, prefix),
            None => self.free_keys(entries, schema, prefix),
        }
    }

    fn fixed_keys(
        &mut self,
        entries: &mut Vec<Entry>,
        properties: &'s Map<String, Value>,
        prefix: &str,
    ) {
        entries.retain_mut(|entry| {
            let path = join(prefix, &entry.key);
            if let Some(property) = properties.get(&entry.key) {
                self.mapping(&mut entry.value, property, &path);
                // In a section whose keys are all commented out, YAML reads a null. It sets nothing.
                return entry.value != Tree::Leaf(Value::Null) || allows_null(property);
            }
            let keys = properties.keys().map(String::as_str);
            let nearest = nearest::of(&entry.key, keys).map(|key| join(prefix, key));
            self.unknown.push(UnknownKey {
                path,
                line: entry.line,
                nearest,
            });
            false
        });
    }

    /// A mapping with keys of the user's choice, such as names of models. Only its values can have unknown keys.
    fn free_keys(&mut self, entries: &mut [Entry], schema: &'s Value, prefix: &str) {
        let Some(values) = schema
            .get("additionalProperties")
            .filter(|values| values.is_object())
        else {
            return;
        };
        for entry in entries {
            self.mapping(&mut entry.value, values, &join(prefix, &entry.key));
        }
    }
}

/// Follows references, and takes the alternative that is not null. `root` holds the definitions.
fn target<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    if let Some(one) = alternatives.and_then(|all| all.iter().find(|one| one["type"] != "null")) {
        return target(root, one);
    }
    let reference = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|path| path.strip_prefix('#'));
    match reference.and_then(|path| root.pointer(path)) {
        Some(definition) => target(root, definition),
        None => schema,
    }
}

fn allows_null(schema: &Value) -> bool {
    let is_null = |schema: &Value| match &schema["type"] {
        Value::Array(types) => types.iter().any(|one| one == "null"),
        one => one == "null",
    };
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    is_null(schema) || alternatives.is_some_and(|all| all.iter().any(is_null))
}

fn join(prefix: &str, key: &str) -> String {
    if prefix.is_empty() {
        key.to_owned()
    } else {
        format!("{prefix}.{key}")
    }
}

/// The dotted path of the first list in place of a mapping. Serde would read its elements as the fields, one by one.
pub(super) fn misplaced_list(schema: &Value, settings: &Value) -> Option<String> {
    let path = path_to_list(schema, schema, settings)?;
    Some(path.join("."))
}

/// The keys down to the list.
fn path_to_list<'v>(root: &Value, schema: &Value, value: &'v Value) -> Option<Vec<&'v str>> {
    let schema = target(root, schema);
    let Value::Object(members) = value else {
        return (value.is_array() && is_mapping(schema)).then(Vec::new);
    };
    members.iter().find_map(|(key, member)| {
        let property = schema["properties"].get(key);
        let member_schema = property.or_else(|| schema.get("additionalProperties"))?;
        let mut keys = path_to_list(root, member_schema, member)?;
        keys.insert(0, key);
        Some(keys)
    })
}

/// Whether a value of the schema is a mapping or null.
fn is_mapping(schema: &Value) -> bool {
    match &schema["type"] {
        // A model may also be a text.
        Value::Array(types) => {
            types.iter().any(|it| it == "object") && types.iter().all(|it| it != "array")
        }
        one => one == "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json_schema;

    fn unknown(text: &str) -> Vec<UnknownKey> {
        take_unknown(&mut Tree::parse(text).unwrap(), json_schema())
    }

    #[test]
    fn an_unknown_key_is_found_at_any_depth_with_the_nearest_one() {
        let found =
            unknown("search:\n  limt: 3\nreranking:\n  model:\n    provder: local\nzzz: 1\n");
        let expected = [
            ("search.limt", 2, Some("search.limit")),
            (
                "reranking.model.provder",
                5,
                Some("reranking.model.provider"),
            ),
            ("zzz", 6, None),
        ];
        let found: Vec<_> = found
            .iter()
            .map(|key| (key.path.as_str(), key.line.unwrap(), key.nearest.as_deref()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_users_own_keys_are_known() {
        assert_eq!(
            unknown(
                "prices: {my-model: {input: 1, output: 2}}\nqa: {model: {extra_body: {a: {b: 1}}}}"
            ),
            []
        );
        assert_eq!(
            unknown("prices: {my-model: {inptu: 1}}")[0].path,
            "prices.my-model.inptu"
        );
    }

    #[test]
    fn an_empty_section_sets_nothing_and_a_real_null_counts() {
        let mut tree = Tree::parse(
            "search:\n  # limit: 5\nembeddings:\n  model:\n    # x\nprocessing: {chunk_size: ~}\n",
        )
        .unwrap();
        take_unknown(&mut tree, json_schema());
        assert_eq!(
            tree.to_value(),
            serde_json::json!({"embeddings": {}, "processing": {"chunk_size": null}})
        );
    }

    #[test]
    fn an_unknown_key_is_taken_out() {
        let mut tree = Tree::parse("search: {limit: 3, storage: x}").unwrap();
        take_unknown(&mut tree, json_schema());
        assert_eq!(tree.to_value(), serde_json::json!({"search": {"limit": 3}}));
    }

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
            assert_eq!(misplaced_list(schema, &settings).as_deref(), Some(path));
        }
    }

    #[test]
    fn lists_and_values_of_any_type_are_no_faults() {
        let settings = json!({
            "matrix": {"search.limit": [1, 2]},
            "qa": {"model": {"extra_body": {"stop": ["a"]}}},
        });
        assert_eq!(misplaced_list(json_schema(), &settings), None);
    }
}
