//! Values by name, in the order of the file.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values by name, in the order in which they were added: a JSON object.
#[derive(Clone, Debug)]
pub struct Entries<V> {
    entries: Vec<(String, V)>,
    /// The place of each name.
    places: BTreeMap<String, usize>,
}

impl<V> Entries<V> {
    /// The value of this name.
    pub fn get(&self, name: &str) -> Option<&V> {
        self.places.get(name).map(|place| &self.entries[*place].1)
    }

    /// Adds a value, or replaces that of the same name.
    pub fn insert(&mut self, name: impl Into<String>, value: V) {
        let name = name.into();
        match self.places.get(&name) {
            Some(place) => self.entries[*place].1 = value,
            None => self.push(name, value),
        }
    }

    /// All names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.entries
            .iter()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// The values.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a value under a new name.
    fn push(&mut self, name: String, value: V) {
        self.places.insert(name.clone(), self.entries.len());
        self.entries.push((name, value));
    }
}

impl<V: Default> Entries<V> {
    /// The value of this name, which is added if there is none.
    pub(super) fn entry(&mut self, name: &str) -> &mut V {
        if !self.places.contains_key(name) {
            self.push(name.to_owned(), V::default());
        }
        &mut self.entries[self.places[name]].1
    }
}

impl<V> Default for Entries<V> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            places: BTreeMap::new(),
        }
    }
}

impl<V: PartialEq> PartialEq for Entries<V> {
    fn eq(&self, other: &Self) -> bool {
        self.entries == other.entries
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

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for Members<V> {
            type Value = Entries<V>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
                let mut entries = Entries::default();
                while let Some((name, value)) = members.next_entry::<String, V>()? {
                    entries.insert(name, value);
                }
                Ok(entries)
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}
