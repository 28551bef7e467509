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

    /// The cells of a row behind those of [`columns`](Self::columns), which come first; `None` if the row does not pass.
    pub(crate) fn rest_of<'c>(&self, cells: &'c [Value]) -> Option<&'c [Value]> {
        let (filtered, rest) = cells.split_at(self.conditions.len());
        let mut pairs = self.conditions.iter().zip(filtered);
        let passes = pairs.all(|(condition, cell)| {
            let mut values = condition.values.iter();
            values.any(|value| equal(cell, value))
        });
        passes.then_some(rest)
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

    fn accepts(filter: &Filter, cells: &[Value]) -> bool {
        filter.rest_of(cells).is_some()
    }

    fn filter(written: Value) -> Filter {
        serde_json::from_value(written).unwrap()
    }

    #[test]
    fn all_conditions_have_to_hold() {
        let filter = filter(json!({"topic": "News", "year": [2023, 2024]}));
        assert!(accepts(&filter, &[json!("News"), json!(2024)]));
        assert!(accepts(&filter, &[json!("News"), json!(2024.0)]));
        assert!(
            accepts(&filter, &[json!("News"), json!("2023")]),
            "CSV has strings only"
        );
        assert!(!accepts(&filter, &[json!("News"), json!(2025)]));
        assert!(!accepts(&filter, &[json!("Sport"), json!(2024)]));
        assert!(!accepts(&filter, &[Value::Null, json!(2024)]));
    }

    #[test]
    fn without_conditions_everything_passes() {
        assert!(accepts(&Filter::default(), &[]));
    }
}
