//! References to columns of a table, and the rows that they choose.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use thiserror::Error;

/// A column of a table, as a manifest names it.
///
/// * `title`: the column of that name.
/// * `context.title`: the field `title` of the struct (or JSON object) in column `context`. A top-level column with the name
///   `context.title` takes precedence.
/// * `context.title[]`: each element of a list. In the documents table, the lists of all columns with `[]` advance together, and each
///   step gives one document; columns without `[]` repeat. In `relevant`, a list contributes each of its elements with or without `[]`.
/// * `context.*`, in `metadata`: all fields of the struct, the JSON object or the JSON text in column `context`, under their own names.
///
/// ```
/// use evals_data::Column;
///
/// let column: Column = "context.title[]".parse()?;
/// assert_eq!(column.segments(), ["context", "title"]);
/// assert!(column.each());
/// # Ok::<(), evals_data::ColumnError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Column {
    segments: Vec<String>,
    each: bool,
}

/// Why a text is not a reference to a column.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ColumnError {
    /// The reference, or one of its parts between dots, is empty.
    #[error("column `{0}` has an empty part")]
    Empty(String),
    /// `[]` is not at the end.
    #[error("column `{0}`: `[]` is allowed at the end only")]
    Brackets(String),
}

impl Column {
    /// The parts between dots, outermost first; never empty.
    pub fn segments(&self) -> &[String] {
        &self.segments
    }

    /// Whether it stands for all further columns: in texts, the fields of the front matter.
    pub(crate) fn is_all_others(&self) -> bool {
        !self.each && self.segments == ["*"]
    }

    /// The column that holds the object, if the reference stands for all fields of an object: `metadata.*`.
    pub(crate) fn spread(&self) -> Option<Self> {
        let (last, outer) = self.segments.split_last()?;
        (last == "*" && !outer.is_empty() && !self.each).then(|| Self {
            segments: outer.to_vec(),
            each: false,
        })
    }

    /// Whether the reference stands for all fields of an object.
    pub fn is_spread(&self) -> bool {
        self.spread().is_some()
    }

    /// The column that a table has to have.
    pub(crate) fn stored(&self) -> Self {
        self.spread().unwrap_or_else(|| self.clone())
    }

    /// Whether the reference ends in `[]`.
    pub fn each(&self) -> bool {
        self.each
    }

    /// The top-level column of this name, whatever characters it has.
    pub(crate) fn whole(name: &str) -> Self {
        Self {
            segments: vec![name.to_owned()],
            each: false,
        }
    }

    /// The reference without `[]`, as messages and schemas name it.
    pub fn path(&self) -> String {
        self.segments.join(".")
    }
}

impl FromStr for Column {
    type Err = ColumnError;

    fn from_str(text: &str) -> Result<Self, ColumnError> {
        let (path, each) = match text.strip_suffix("[]") {
            Some(path) => (path, true),
            None => (text, false),
        };
        if path.contains("[]") {
            return Err(ColumnError::Brackets(text.to_owned()));
        }
        let segments: Vec<String> = path.split('.').map(str::to_owned).collect();
        if segments.iter().any(String::is_empty) {
            return Err(ColumnError::Empty(text.to_owned()));
        }
        Ok(Self { segments, each })
    }
}

impl fmt::Display for Column {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.path())?;
        if self.each {
            formatter.write_str("[]")
        } else {
            Ok(())
        }
    }
}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// The rows of a table to keep: `where: {column: value}` or `{column: [value, value]}`.
///
/// Each named column must equal one of its values. Numbers compare by value (`1` equals `1.0`). A string and a number compare by their
/// text, because CSV has strings only. A list equals what one of its elements equals, and a missing cell equals nothing.
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

    /// Whether every row passes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// The filter as a manifest writes it.
    pub(super) fn written(&self) -> Value {
        let conditions = self.conditions.iter();
        let conditions = conditions.map(|it| (it.column.to_string(), it.values.clone().into()));
        Value::Object(conditions.collect())
    }

    /// The cells of a row behind those of [`columns`](Self::columns), which come first; `None` if the row does not pass.
    pub(crate) fn rest_of<'c>(&self, cells: &'c [Value]) -> Option<&'c [Value]> {
        let (passes, rest) = self.split(cells);
        passes.then_some(rest)
    }

    /// Whether a row passes, and its cells behind those of [`columns`](Self::columns), which come first.
    pub(crate) fn split<'c>(&self, cells: &'c [Value]) -> (bool, &'c [Value]) {
        let (filtered, rest) = cells.split_at(self.conditions.len());
        let mut pairs = self.conditions.iter().zip(filtered);
        let passes = pairs.all(|(condition, cell)| {
            let mut values = condition.values.iter();
            values.any(|value| equal(cell, value))
        });
        (passes, rest)
    }
}

fn equal(cell: &Value, wanted: &Value) -> bool {
    match (cell, wanted) {
        (Value::Null, _) => false,
        (Value::Array(elements), _) => elements.iter().any(|it| equal(it, wanted)),
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

/// Reads either one value or a list of values into a list.
///
/// This is a hand-written visitor because an untagged enum would lose the line of an error inside it.
pub(crate) fn one_or_many<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_any(OneOrMany(PhantomData))
}

/// Writes columns as a manifest does: null for none, one without a list.
pub(super) fn none_one_or_many<S: Serializer>(
    columns: &Vec<Column>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match columns.as_slice() {
        [] => serializer.serialize_none(),
        [one] => one.serialize(serializer),
        several => several.serialize(serializer),
    }
}

struct OneOrMany<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrMany<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("one value or a list of values")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(text.into_deserializer())?])
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(value.into_deserializer())?])
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(value.into_deserializer())?])
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(value.into_deserializer())?])
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(value.into_deserializer())?])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Vec<T>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(sequence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_empty_parts_and_inner_brackets() {
        let error = |text: &str| text.parse::<Column>().unwrap_err().to_string();
        assert_eq!(error(""), "column `` has an empty part");
        assert_eq!(error("a..b"), "column `a..b` has an empty part");
        assert_eq!(error("[]"), "column `[]` has an empty part");
        assert_eq!(
            error("a[].b"),
            "column `a[].b`: `[]` is allowed at the end only"
        );
    }

    #[test]
    fn prints_what_it_read() {
        for text in ["title", "context.title", "context.title[]"] {
            assert_eq!(text.parse::<Column>().unwrap().to_string(), text);
        }
    }
}

#[cfg(test)]
mod filter_tests {
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
        assert!(accepts(&filter, &[json!(["Sport", "News"]), json!(2024)]));
        assert!(!accepts(&filter, &[json!([]), json!(2024)]));
    }

    #[test]
    fn without_conditions_everything_passes() {
        assert!(accepts(&Filter::default(), &[]));
    }
}
