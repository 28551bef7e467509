//! Reads queries of spans, and says what is wrong with them.

use evals::SpanStatus;
use evals_messages::nearest;
use serde_json::{Map, Value, json};

use super::error::SpanQueryError;
use super::query::{Bound, Condition, Quantity, Relatives, SpanQuery};
use crate::python::{Pattern, Place, TimeDelta};

/// All conditions, in the order of pydantic-evals.
const CONDITIONS: [&str; 27] = [
    "name_equals",
    "name_contains",
    "name_matches_regex",
    "has_attributes",
    "has_attribute_keys",
    "has_status",
    "min_duration",
    "max_duration",
    "not_",
    "and_",
    "or_",
    "min_child_count",
    "max_child_count",
    "some_child_has",
    "all_children_have",
    "no_child_has",
    "stop_recursing_when",
    "min_descendant_count",
    "max_descendant_count",
    "some_descendant_has",
    "all_descendants_have",
    "no_descendant_has",
    "min_depth",
    "max_depth",
    "some_ancestor_has",
    "all_ancestors_have",
    "no_ancestor_has",
];

/// The JSON Schema of queries, without those inside them.
pub(crate) fn schema() -> Value {
    json!({"type": "object", "propertyNames": {"enum": CONDITIONS}})
}

impl SpanQuery {
    /// Reads a query as a dataset file writes it.
    pub fn from_json(query: &Value) -> Result<Self, SpanQueryError> {
        self::query(query, "query")
    }
}

/// Reads the query at a place.
fn query(written: &Value, place: &str) -> Result<SpanQuery, SpanQueryError> {
    let members = object(written, place, "an object of conditions")?;
    if members.contains_key("or_") && members.len() > 1 {
        return Err(SpanQueryError::OrIsNotAlone {
            place: place.to_owned(),
        });
    }
    let mut read = SpanQuery {
        conditions: Vec::with_capacity(members.len()),
        stop: None,
    };
    for (name, value) in members {
        let here = format!("{place}.{name}");
        if name == "stop_recursing_when" {
            read.stop = Some(Box::new(query(value, &here)?));
        } else {
            let unknown = || SpanQueryError::Unknown {
                place: place.to_owned(),
                condition: name.clone(),
                hint: nearest::did_you_mean(nearest::all(name, CONDITIONS)),
            };
            let condition = condition(name, value, &here)?.ok_or_else(unknown)?;
            read.conditions.push(condition);
        }
    }
    Ok(read)
}

/// Reads the condition of this name, if there is one.
fn condition(name: &str, value: &Value, here: &str) -> Result<Option<Condition>, SpanQueryError> {
    if let Some((relatives, quantity)) = relation(name) {
        let query = query(value, here)?;
        return Ok(Some(Condition::Related(relatives, quantity, query)));
    }
    let (bound, limited) = match name.split_once('_') {
        Some(("min", limited)) => (Bound::Least, limited),
        Some(("max", limited)) => (Bound::Most, limited),
        _ => return plain(name, value, here),
    };
    let count = |relatives| {
        let limit = value.as_f64();
        let wrong = || wrong(here, "a number", value);
        Ok(Some(Condition::Count(
            relatives,
            bound,
            limit.ok_or_else(wrong)?,
        )))
    };
    match limited {
        "child_count" => count(Relatives::Children),
        "descendant_count" => count(Relatives::Descendants),
        "depth" => count(Relatives::Ancestors),
        "duration" => {
            let wrong = || wrong(here, "a number of seconds", value);
            let limit = TimeDelta::of(value).ok_or_else(wrong)?;
            Ok(Some(Condition::Duration(bound, limit)))
        }
        _ => Ok(None),
    }
}

fn relation(name: &str) -> Option<(Relatives, Quantity)> {
    Some(match name {
        "some_child_has" => (Relatives::Children, Quantity::Some),
        "all_children_have" => (Relatives::Children, Quantity::All),
        "no_child_has" => (Relatives::Children, Quantity::None),
        "some_descendant_has" => (Relatives::Descendants, Quantity::Some),
        "all_descendants_have" => (Relatives::Descendants, Quantity::All),
        "no_descendant_has" => (Relatives::Descendants, Quantity::None),
        "some_ancestor_has" => (Relatives::Ancestors, Quantity::Some),
        "all_ancestors_have" => (Relatives::Ancestors, Quantity::All),
        "no_ancestor_has" => (Relatives::Ancestors, Quantity::None),
        _ => return None,
    })
}

/// Conditions on a span itself, and queries joined.
fn plain(name: &str, value: &Value, here: &str) -> Result<Option<Condition>, SpanQueryError> {
    Ok(Some(match name {
        "name_equals" => Condition::NameEquals(text(value, here)?),
        "name_contains" => Condition::NameContains(text(value, here)?),
        "name_matches_regex" => {
            let pattern = Pattern::new(&text(value, here)?, Place::Start, "");
            Condition::NameMatches(pattern.map_err(|error| SpanQueryError::Pattern {
                place: format!("`{here}`: "),
                source: error.into(),
            })?)
        }
        "has_attributes" => {
            Condition::Attributes(object(value, here, "an object of attributes")?.clone())
        }
        "has_attribute_keys" => {
            let names = list(value, here, "a list of names")?;
            let names = names.iter().map(|(name, here)| text(name, here));
            Condition::AttributeKeys(names.collect::<Result<_, _>>()?)
        }
        "has_status" => Condition::Status(match value.as_str() {
            Some("unset") => SpanStatus::Unset,
            Some("ok") => SpanStatus::Ok,
            Some("error") => SpanStatus::Error,
            _ => return Err(wrong(here, "`unset`, `ok` or `error`", value)),
        }),
        "not_" => Condition::Not(query(value, here)?),
        "and_" => Condition::And(queries(value, here)?),
        "or_" => Condition::Or(queries(value, here)?),
        _ => return Ok(None),
    }))
}

fn queries(value: &Value, here: &str) -> Result<Vec<SpanQuery>, SpanQueryError> {
    let items = list(value, here, "a list of queries")?;
    items.iter().map(|(item, here)| query(item, here)).collect()
}

/// The items of a list, each with its place.
fn list<'a>(
    value: &'a Value,
    here: &str,
    wanted: &'static str,
) -> Result<Vec<(&'a Value, String)>, SpanQueryError> {
    let items = value.as_array().ok_or_else(|| wrong(here, wanted, value))?;
    let items = items.iter().enumerate();
    Ok(items
        .map(|(index, item)| (item, format!("{here}[{index}]")))
        .collect())
}

fn object<'a>(
    value: &'a Value,
    here: &str,
    wanted: &'static str,
) -> Result<&'a Map<String, Value>, SpanQueryError> {
    value.as_object().ok_or_else(|| wrong(here, wanted, value))
}

fn text(value: &Value, here: &str) -> Result<String, SpanQueryError> {
    let text = value.as_str().ok_or_else(|| wrong(here, "a text", value));
    text.map(str::to_owned)
}

fn wrong(here: &str, wanted: &'static str, given: &Value) -> SpanQueryError {
    SpanQueryError::Value {
        place: here.to_owned(),
        wanted,
        given: given.clone(),
    }
}
