//! Judgements and rankings as JSON: `{"query": {"document": value}}`.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use evals_messages::mismatch;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};

use super::rows::File;
use super::table::{Table, TableBuilder};
use crate::trec::ParseError;

pub(super) fn read(text: &str, file: File) -> Result<Table, ParseError> {
    let table = match file {
        File::Judgements => rows::<i32>(text),
        File::Rankings => rows::<f64>(text),
    };
    table.map_err(|error| ParseError::Json {
        message: mismatch::in_json(&error.to_string()),
    })
}

fn rows<V: Into<f64> + for<'de> Deserialize<'de>>(text: &str) -> Result<Table, serde_json::Error> {
    let queries: Unique<Unique<V>> = serde_json::from_str(text)?;
    let mut table = TableBuilder::default();
    for (query, documents) in queries.0 {
        table.query(&query);
        for (id, value) in documents.0 {
            table.document(&id, value.into());
        }
    }
    Ok(table.finish())
}

/// An object whose keys are unique, in the order of the file.
struct Unique<V>(Vec<(String, V)>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Unique<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(UniqueVisitor(PhantomData))
    }
}

struct UniqueVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for UniqueVisitor<V> {
    type Value = Unique<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut seen = HashSet::new();
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!("`{key}` is listed a second time")));
            }
            let value = map.next_value().map_err(|error| below(&key, &error))?;
            entries.push((key, value));
        }
        Ok(Unique(entries))
    }
}

/// The error of a value, with its key. The parser keeps the place at the end of the message.
fn below<E: serde::de::Error>(key: &str, error: &E) -> E {
    let message = mismatch::in_json(&error.to_string());
    E::custom(format!("`{key}`: {message}"))
}
