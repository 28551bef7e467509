//! The `where` of a table.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::column::Column;
use super::one_or_many::one_or_many;

/// The rows of a table to keep: `where: {column: value}` or `{column: [value, value]}`.
///
/// Each named column must equal one of its values. Numbers compare by value (`1` equals `1.0`). A string and a number compare by their
/// text, because CSV has strings only. A missing cell equals nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Filter {
    conditions: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Condition {
    column: Column,
    values: Vec<Value>,
}

impl Filter {
    /// The columns of the filter's conditions.
    pub fn columns(&self) -> impl Iterator<Item = &Column> {
        self.conditions.iter().map(|condition| &condition.column)
    }

    /// Whether a row passes; `cells` are the values of [`columns`](Self::columns), in that order.
    pub(crate) fn accepts(&self, cells: &[Value]) -> bool {
        self.conditions
            .iter()
            .zip(cells)
            .all(|(condition, cell)| condition.values.iter().any(|value| equal(cell, value)))
    }
}

fn equal(cell: &Value, wanted: &Value) -> bool {
    match (cell, wanted) {
        (Value::Null, _) => false,
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::String(left), Value::String(right)) => left == right,
        (Value::String(text), other) | (other, Value::String(text)) => {
            let written = other.to_string();
            *text == written
        }
        (left, right) => left == right,
    }
}

impl<'de> Deserialize<'de> for Filter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(transparent)]
        struct Values(#[serde(deserialize_with = "one_or_many")] Vec<Value>);

        let written = serde_json::Map::<String, Value>::deserialize(deserializer)?;
        let condition = |(column, values): (String, Value)| {
            let column = column.parse().map_err(serde::de::Error::custom)?;
            let Values(values) =
                serde_json::from_value(values).map_err(serde::de::Error::custom)?;
            Ok(Condition { column, values })
        };
        let conditions = written
            .into_iter()
            .map(condition)
            .collect::<Result<_, D::Error>>()?;
        Ok(Self { conditions })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filter(written: Value) -> Filter {
        serde_json::from_value(written).unwrap()
    }

    #[test]
    fn all_conditions_have_to_hold() {
        let filter = filter(json!({"topic": "News", "year": [2023, 2024]}));
        assert!(filter.accepts(&[json!("News"), json!(2024)]));
        assert!(filter.accepts(&[json!("News"), json!(2024.0)]));
        assert!(
            filter.accepts(&[json!("News"), json!("2023")]),
            "CSV has strings only"
        );
        assert!(!filter.accepts(&[json!("News"), json!(2025)]));
        assert!(!filter.accepts(&[json!("Sport"), json!(2024)]));
        assert!(!filter.accepts(&[Value::Null, json!(2024)]));
    }

    #[test]
    fn without_conditions_everything_passes() {
        assert!(Filter::default().accepts(&[]));
    }
}
