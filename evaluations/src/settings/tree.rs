//! A YAML value that remembers the line of every key.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use serde_saphyr::Spanned;

/// A YAML value with the positions of its keys.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    /// Anything but a mapping. Its own position is that of the key it stands under.
    Leaf(Value),
    /// A mapping, in the order of the file.
    Mapping(Vec<Entry>),
}

/// One key of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    /// The key's line, counted from 1; `None` where the tree was not read from a text.
    pub(crate) line: Option<u64>,
    pub(crate) value: Tree,
}

impl Tree {
    /// Parses YAML; an empty text is null.
    pub(crate) fn parse(text: &str) -> Result<Self, serde_saphyr::Error> {
        let options = serde_saphyr::options! { with_snippet: false };
        let tree: Option<Self> = serde_saphyr::from_str_with_options(text, options)?;
        Ok(tree.unwrap_or(Self::Leaf(Value::Null)))
    }

    /// A tree without positions.
    pub(crate) fn from_value(value: &Value) -> Self {
        match value {
            Value::Object(map) => Self::Mapping(
                map.iter()
                    .map(|(key, value)| Entry {
                        key: key.clone(),
                        line: None,
                        value: Self::from_value(value),
                    })
                    .collect(),
            ),
            leaf => Self::Leaf(leaf.clone()),
        }
    }

    /// The value alone.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Leaf(value) => value.clone(),
            Self::Mapping(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.to_value()))
                    .collect(),
            ),
        }
    }

    /// Puts the keys of `upper` over those of this tree.
    pub(crate) fn merge(&mut self, upper: Self) {
        match (self, upper) {
            (Self::Mapping(below), Self::Mapping(above)) => {
                for entry in above {
                    match below.iter_mut().find(|known| known.key == entry.key) {
                        Some(known) => known.value.merge(entry.value),
                        None => below.push(entry),
                    }
                }
            }
            (this, upper) => *this = upper,
        }
    }

    /// The deepest key of `path` that this tree has, or `None` where it does not even have the first.
    pub(crate) fn deepest(&self, path: &[&str]) -> Option<&Entry> {
        let (first, rest) = path.split_first()?;
        let Self::Mapping(entries) = self else {
            return None;
        };
        let entry = entries.iter().find(|entry| entry.key == *first)?;
        Some(entry.value.deepest(rest).unwrap_or(entry))
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a YAML value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Null))
    }

    fn visit_none<E: de::Error>(self) -> Result<Tree, E> {
        Ok(Tree::Leaf(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Tree, E> {
        match serde_json::Number::from_f64(value) {
            Some(number) => Ok(Tree::Leaf(Value::Number(number))),
            None => Err(E::custom("a setting cannot be infinite or not a number")),
        }
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Leaf(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Tree, A::Error> {
        let mut values = Vec::new();
        while let Some(element) = sequence.next_element::<Tree>()? {
            values.push(element.to_value());
        }
        Ok(Tree::Leaf(Value::Array(values)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut mapping: A) -> Result<Tree, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = mapping.next_key::<Spanned<String>>()? {
            let value = mapping.next_value::<Tree>()?;
            entries.push(Entry {
                key: key.value,
                line: Some(key.referenced.line()),
                value,
            });
        }
        Ok(Tree::Mapping(entries))
    }
}

/// Puts `upper` over `lower`, key by key. A model of another provider replaces the whole model below it, because a
/// dimension or an address of the one means nothing to the other.
pub(crate) fn overlay(lower: &mut Map<String, Value>, upper: Map<String, Value>) {
    for (key, value) in upper {
        match (lower.get_mut(&key), value) {
            (Some(Value::Object(below)), Value::Object(above))
                if !changes_provider(below, &above) =>
            {
                overlay(below, above);
            }
            (_, value) => {
                lower.insert(key, value);
            }
        }
    }
}

/// Whether `below` is a model, and `above` one of another provider.
fn changes_provider(below: &Map<String, Value>, above: &Map<String, Value>) -> bool {
    let is_model = below.contains_key("provider") && below.contains_key("name");
    is_model
        && above
            .get("provider")
            .is_some_and(|provider| Some(provider) != below.get("provider"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_remember_their_lines() {
        let tree = Tree::parse("a: 1\n\nb:\n  c:\n    - 1\n    - 2\n  d: {e: ~}\n").unwrap();
        let line = |path: &[&str]| tree.deepest(path).and_then(|entry| entry.line);
        assert_eq!(line(&["b"]), Some(3));
        assert_eq!(line(&["b", "c"]), Some(4));
        assert_eq!(line(&["b", "d", "e"]), Some(7));
        assert_eq!(
            line(&["b", "d", "missing"]),
            Some(7),
            "the deepest key that is there"
        );
        assert_eq!(line(&["missing"]), None);
        assert_eq!(
            tree.to_value(),
            json!({"a": 1, "b": {"c": [1, 2], "d": {"e": null}}})
        );
    }

    #[test]
    fn an_empty_text_is_null() {
        for text in ["", "# only a comment\n", "null", "~"] {
            assert_eq!(
                Tree::parse(text).unwrap(),
                Tree::Leaf(Value::Null),
                "`{text}`"
            );
        }
    }

    fn overlaid(lower: Value, upper: Value) -> Value {
        let (Value::Object(mut lower), Value::Object(upper)) = (lower, upper) else {
            panic!("two mappings")
        };
        overlay(&mut lower, upper);
        Value::Object(lower)
    }

    #[test]
    fn an_upper_layer_wins_key_by_key_and_null_counts() {
        let merged = overlaid(
            json!({"search": {"limit": 5, "profile": "hybrid"}, "processing": {"chunk_size": 256}}),
            json!({"search": {"limit": 9}, "processing": {"chunk_size": null}}),
        );
        assert_eq!(
            merged,
            json!({"search": {"limit": 9, "profile": "hybrid"}, "processing": {"chunk_size": null}})
        );
    }

    #[test]
    fn another_provider_replaces_the_whole_model() {
        let below =
            json!({"model": {"provider": "embedded", "name": "static-minilm", "vector_dim": 256}});
        let other = json!({"model": {"provider": "ollama", "name": "qwen3-embedding"}});
        assert_eq!(overlaid(below.clone(), other.clone()), other);
        let same = json!({"model": {"provider": "embedded"}});
        assert_eq!(overlaid(below.clone(), same), below);
        let smaller = overlaid(below, json!({"model": {"vector_dim": 128}}));
        assert_eq!(
            smaller,
            json!({"model": {"provider": "embedded", "name": "static-minilm", "vector_dim": 128}})
        );
    }
}
