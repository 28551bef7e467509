//! The settings in the record of a run.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use evals_rag::prices::Prices;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The settings of a run, as they were. They stay a tree, because settings come and go between versions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordedSettings(Map<String, Value>);

impl RecordedSettings {
    /// All of the settings, or those of some sections.
    pub fn of(settings: &impl Serialize) -> Result<Self> {
        let tree = serde_json::to_value(settings).and_then(serde_json::from_value);
        tree.context("cannot serialise the settings")
    }

    /// The value of a setting, by its dotted path; `None` if it is not set, or null.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>> {
        let (section, below) = path.split_once('.').unwrap_or((path, ""));
        let value = self.0.get(section).and_then(|section| {
            let mut names = below.split('.').filter(|name| !name.is_empty());
            names.try_fold(section, |value, name| value.get(name))
        });
        let value = value.map_or(Ok(None), Option::deserialize);
        value.with_context(|| format!("`settings.{path}` in the record of the run is damaged"))
    }

    /// The prices of models.
    pub fn prices(&self) -> Result<Prices> {
        Ok(self.get("prices")?.unwrap_or_default())
    }

    /// Whether the run uses batches.
    pub fn has_batches(&self) -> Result<bool> {
        Ok(self.get("batch.enabled")?.unwrap_or_default())
    }

    /// Takes some sections from other settings in place of its own.
    pub fn replace(&mut self, sections: &[&str], other: &Self) {
        for section in sections {
            match other.0.get(*section) {
                Some(value) => self.0.insert((*section).to_owned(), value.clone()),
                None => self.0.shift_remove(*section),
            };
        }
    }

    /// The values by their dotted paths. Lists are values.
    pub fn flat(&self) -> BTreeMap<String, String> {
        let mut values = BTreeMap::new();
        for (section, value) in &self.0 {
            flatten(section, value, Lists::Whole, &mut values);
        }
        values
    }
}

/// How lists become values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lists {
    /// Each is a value.
    Whole,
    /// Each of their items is one.
    Items,
}

/// Adds the values of a tree by their dotted paths. Null is no value.
pub(super) fn flatten(
    path: &str,
    value: &Value,
    lists: Lists,
    into: &mut BTreeMap<String, String>,
) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                flatten(&format!("{path}.{member}"), value, lists, into);
            }
        }
        Value::Array(items) if lists == Lists::Items => {
            for (place, value) in items.iter().enumerate() {
                flatten(&format!("{path}[{place}]"), value, lists, into);
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
