//! YAML values that remember the lines of their keys.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::Spanned;

use crate::error::YamlError;

/// A YAML value that remembers the line of every key.
#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    /// Anything but a mapping. Its position is that of its key.
    Leaf(Value),
    /// A mapping, in the order of the file.
    Mapping(Vec<Entry>),
}

/// One key of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The key's line, from 1; `None` if the tree does not come from a text.
    pub line: Option<u64>,
    /// The key's value.
    pub value: Tree,
}

impl Tree {
    /// Parses YAML; an empty text is null.
    pub fn parse(text: &str) -> Result<Self, YamlError> {
        let tree: Option<Self> =
            serde_saphyr::from_str(text).map_err(|error| YamlError::from(&error))?;
        Ok(tree.unwrap_or_default())
    }

    /// A tree without positions.
    pub fn from_value(value: &Value) -> Self {
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

    /// A tree of one value, at a path of keys that dots join.
    pub fn at(path: &str, value: Self) -> Self {
        path.rsplit('.').fold(value, |value, key| {
            Self::Mapping(vec![Entry {
                key: key.to_owned(),
                line: None,
                value,
            }])
        })
    }

    /// The value alone.
    pub fn to_value(&self) -> Value {
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

    /// Overrides the keys of this tree with those of `upper`.
    pub fn merge(&mut self, upper: Self) {
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

    /// The entry at a path of keys that dots join.
    pub fn get(&self, path: &str) -> Option<&Entry> {
        let mut keys = path.split('.');
        let first = self.child(keys.next()?)?;
        keys.try_fold(first, |entry, key| entry.value.child(key))
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, path: &str) -> Option<&mut Entry> {
        let mut keys = path.split('.');
        let first = self.child_mut(keys.next()?)?;
        keys.try_fold(first, |entry, key| entry.value.child_mut(key))
    }

    fn child(&self, key: &str) -> Option<&Entry> {
        match self {
            Self::Mapping(entries) => entries.iter().find(|entry| entry.key == key),
            Self::Leaf(_) => None,
        }
    }

    fn child_mut(&mut self, key: &str) -> Option<&mut Entry> {
        match self {
            Self::Mapping(entries) => entries.iter_mut().find(|entry| entry.key == key),
            Self::Leaf(_) => None,
        }
    }

    /// Sets the value at a path of keys that dots join. Keys that are not there are added, in the line `line`.
    pub fn put(&mut self, path: &str, line: Option<u64>, value: Self) {
        let (first, rest) = match path.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (path, None),
        };
        if self.child(first).is_none() {
            let value = Self::default();
            let entry = Entry {
                key: first.to_owned(),
                line,
                value,
            };
            match self {
                Self::Mapping(entries) => entries.push(entry),
                Self::Leaf(_) => *self = Self::Mapping(vec![entry]),
            }
        }
        let entry = self
            .child_mut(first)
            .expect("it was added if it was missing");
        match rest {
            Some(rest) => entry.value.put(rest, line, value),
            None => entry.value = value,
        }
    }

    /// Removes the entry at a path of keys that dots join.
    pub fn take(&mut self, path: &str) -> Option<Entry> {
        let (parent, key) = match path.rsplit_once('.') {
            Some((parent, key)) => (&mut self.get_mut(parent)?.value, key),
            None => (self, path),
        };
        let Self::Mapping(entries) = parent else {
            return None;
        };
        let place = entries.iter().position(|entry| entry.key == key)?;
        Some(entries.remove(place))
    }

    /// The text of a leaf.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Leaf(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The deepest key of `path` that this tree has; `None` if it lacks the first.
    pub fn deepest(&self, path: &[&str]) -> Option<&Entry> {
        let (first, rest) = path.split_first()?;
        let entry = self.child(first)?;
        Some(entry.value.deepest(rest).unwrap_or(entry))
    }
}

/// Null.
impl Default for Tree {
    fn default() -> Self {
        Self::Leaf(Value::Null)
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
            None => Err(E::custom("a number cannot be infinite or undefined")),
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
    fn entries_are_found_set_and_taken_by_their_path() {
        let mut tree = Tree::parse("a:\n  b: 1\n  c: x\n").unwrap();
        assert_eq!(tree.get("a.c").and_then(|it| it.value.text()), Some("x"));
        assert_eq!(tree.get("a.c.d"), None);
        tree.put("a.b", None, Tree::Leaf(2.into()));
        tree.put("a.d.e", Some(9), Tree::Leaf(3.into()));
        assert_eq!(tree.get("a.b").unwrap().line, Some(2), "it keeps its line");
        assert_eq!(tree.get("a.d").unwrap().line, Some(9));
        assert_eq!(tree.take("a.c").unwrap().line, Some(3));
        assert_eq!(tree.take("a.c"), None);
        assert_eq!(tree.to_value(), json!({"a": {"b": 2, "d": {"e": 3}}}));
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
}
