//! Edits one mapping of a settings file. Keys keep their lines when they are moved or renamed.

use serde_json::Value;

use super::super::tree::{Entry, Tree};
/// The keys of one mapping.
#[derive(Debug)]
pub(super) struct Section<'t>(&'t mut Vec<Entry>);

impl<'t> Section<'t> {
    /// The mapping at `key`; `None` if there is none.
    pub(super) fn of(tree: &'t mut Tree, key: &str) -> Option<Self> {
        let Tree::Mapping(entries) = tree else {
            return None;
        };
        Self(entries).inner(key)
    }

    /// The mapping at `key`, added if there is none.
    pub(super) fn of_or_new(tree: &'t mut Tree, key: &str, line: Option<u64>) -> Self {
        if !matches!(tree, Tree::Mapping(_)) {
            *tree = Tree::Mapping(Vec::new());
        }
        let Tree::Mapping(entries) = tree else {
            unreachable!("the line above made it a mapping")
        };
        let place = entries.iter().position(|entry| entry.key == key);
        let place = place.unwrap_or_else(|| {
            entries.push(Entry {
                key: key.to_owned(),
                line,
                value: Tree::Mapping(Vec::new()),
            });
            entries.len() - 1
        });
        let value = &mut entries[place].value;
        if !matches!(value, Tree::Mapping(_)) {
            *value = Tree::Mapping(Vec::new());
        }
        let Tree::Mapping(entries) = value else {
            unreachable!("the line above made it a mapping")
        };
        Self(entries)
    }

    /// The mapping at a key of this one.
    pub(super) fn inner(self, key: &str) -> Option<Self> {
        let entry = self.0.iter_mut().find(|entry| entry.key == key)?;
        match &mut entry.value {
            Tree::Mapping(entries) => Some(Self(entries)),
            Tree::Leaf(_) => None,
        }
    }

    /// The mapping at a key of this one, which can be used again afterwards.
    pub(super) fn inner_mut(&mut self, key: &str) -> Option<Section<'_>> {
        Section(self.0).inner(key)
    }

    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        self.0.iter().find(|entry| entry.key == key)
    }

    /// The text at `key` if it is not empty.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        text(&self.get(key)?.value).filter(|text| !text.is_empty())
    }

    /// The line of `key`.
    pub(super) fn line(&self, key: &str) -> Option<u64> {
        self.get(key)?.line
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Entry> {
        let place = self.0.iter().position(|entry| entry.key == key)?;
        Some(self.0.remove(place))
    }

    /// Sets the value at `key`.
    pub(super) fn put(&mut self, key: &str, line: Option<u64>, value: Tree) {
        let line = self.line(key).or(line);
        self.take(key);
        self.0.push(Entry {
            key: key.to_owned(),
            line,
            value,
        });
    }

    /// Sets the text at `key`.
    pub(super) fn put_text(&mut self, key: &str, line: Option<u64>, value: impl Into<String>) {
        self.put(key, line, Tree::Leaf(Value::String(value.into())));
    }

    /// Sets the value at `key` if there is none.
    pub(super) fn put_if_absent(&mut self, key: &str, line: Option<u64>, value: Tree) {
        let absent = |entry: &Entry| entry.value == Tree::Leaf(Value::Null);
        if self.get(key).is_none_or(absent) {
            self.put(key, line, value);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The text of a leaf.
pub(super) fn text(tree: &Tree) -> Option<&str> {
    match tree {
        Tree::Leaf(Value::String(text)) => Some(text),
        _ => None,
    }
}
