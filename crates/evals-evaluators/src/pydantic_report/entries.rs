//! Values by name, in the order of the file.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Values by name, in the order in which they were added: a JSON object.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries<V>(Vec<(String, V)>);

impl<V> Entries<V> {
    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&V> {
        let found = self.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value)
    }

    /// Adds a value, or replaces that of the same name.
    pub fn insert(&mut self, name: impl Into<String>, value: V) {
        let name = name.into();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((name, value)),
        }
    }

    /// All names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The values.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
impl<V: Default> Entries<V> {
    /// The value of this name, which is added if there is none.
    pub(super) fn entry(&mut self, name: &str) -> &mut V {
        let place = self.0.iter().position(|(known, _)| known == name);
        let place = place.unwrap_or_else(|| {
            self.0.push((name.to_owned(), V::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }
}

impl<V> Default for Entries<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Of several values of one name the last one counts.
impl<N: Into<String>, V> FromIterator<(N, V)> for Entries<V> {
    fn from_iter<T: IntoIterator<Item = (N, V)>>(values: T) -> Self {
        let mut entries = Self::default();
        for (name, value) in values {
            entries.insert(name, value);
        }
        entries
    }
}

impl<V: Serialize> Serialize for Entries<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, V: DeserializeOwned> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Map::<String, Value>::deserialize(deserializer)?.into_iter();
        let values = members.map(|(name, value)| Ok((name, serde_json::from_value(value)?)));
        let values: Result<Vec<(String, V)>, serde_json::Error> = values.collect();
        values.map(Self).map_err(D::Error::custom)
    }
}
