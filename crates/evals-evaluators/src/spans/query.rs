//! A query of spans.

use evals::{SpanStatus, SpanTree};
use serde_json::{Map, Value};

use super::error::SpanQueryError;
use super::node::{Node, Property};

use crate::python::{Pattern, TimeDelta, equal};

/// Which spans are looked for, in the language of pydantic-evals' `SpanQuery`: an object whose keys are conditions that all
/// have to hold.
///
/// | Keys | A span matches if |
/// |---|---|
/// | `name_equals`, `name_contains` | its name is, or contains, this text |
/// | `name_matches_regex` | its name starts with a match of this regular expression, as in Python's `re.match` |
/// | `has_attributes` | it has all these attributes; an object or a list also equals its JSON text |
/// | `has_attribute_keys` | it has attributes of all these names |
/// | `has_status` | its status is `unset`, `ok` or `error` |
/// | `min_duration`, `max_duration` | it took at least, or at most, so many seconds |
/// | `not_`, `and_`, `or_` | it does not match a query, matches all of a list, or any of a list; `or_` stands alone |
/// | `min_child_count`, `max_child_count` | it has at least, or at most, so many children |
/// | `some_child_has`, `all_children_have`, `no_child_has` | its children match a query |
/// | `min_descendant_count`, `max_descendant_count`, `some_descendant_has`, `all_descendants_have`, `no_descendant_has` | the same of all spans inside it |
/// | `min_depth`, `max_depth`, `some_ancestor_has`, `all_ancestors_have`, `no_ancestor_has` | the same of the spans around it; a root has depth 0 |
/// | `stop_recursing_when` | spans inside a descendant, or around an ancestor, that matches this do not count in the conditions on descendants and ancestors that have queries |
///
/// `{}` matches every span. A condition counts whatever its value: `name_equals: ""`, `or_: []` and `some_child_has: {}` are
/// conditions too, where pydantic-evals ignores them.
///
/// ```
/// use evals::{Span, SpanTree};
/// use evals_evaluators::SpanQuery;
/// use serde_json::json;
///
/// let search = Span::tool_call("search", &json!({"query": "rust"}), false);
/// let spans = SpanTree { roots: vec![Span { children: vec![search], ..Span::new("agent run") }] };
/// let query = SpanQuery::from_json(&json!({
///     "has_attributes": {"gen_ai.tool.name": "search"},
///     "some_ancestor_has": {"name_contains": "agent"},
///     "max_child_count": 0,
/// }))?;
/// assert!(query.matches_any(&spans)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SpanQuery {
    pub(super) conditions: Vec<Condition>,
    pub(super) stop: Option<Box<SpanQuery>>,
}

/// One condition on a span.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    NameEquals(String),
    NameContains(String),
    NameMatches(Pattern),
    Attributes(Map<String, Value>),
    AttributeKeys(Vec<String>),
    Status(SpanStatus),
    Duration(Bound, TimeDelta),
    Not(SpanQuery),
    And(Vec<SpanQuery>),
    Or(Vec<SpanQuery>),
    Count(Relatives, Bound, f64),
    Related(Relatives, Quantity, SpanQuery),
}

/// Which side a limit is on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    Least,
    Most,
}

/// Other spans that a condition is on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Relatives {
    Children,
    Descendants,
    Ancestors,
}

/// How many relatives have to match.
#[derive(Clone, Copy, Debug)]
pub(super) enum Quantity {
    Some,
    All,
    None,
}

impl SpanQuery {
    /// Whether any span of the tree matches. Fails if a regular expression takes too many steps for a span's name.
    pub fn matches_any(&self, spans: &SpanTree) -> Result<bool, SpanQueryError> {
        Node::any_in(spans, &|node| self.matches(node))
    }

    fn matches(&self, node: &Node<'_>) -> Result<bool, SpanQueryError> {
        for condition in &self.conditions {
            if !self.holds(condition, node)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn holds(&self, condition: &Condition, node: &Node<'_>) -> Result<bool, SpanQueryError> {
        let span = node.span;
        Ok(match condition {
            Condition::NameEquals(name) => span.name == *name,
            Condition::NameContains(part) => span.name.contains(part),
            Condition::NameMatches(pattern) => pattern.is_match(&span.name)?,
            Condition::Attributes(wanted) => wanted.iter().all(|(name, wanted)| {
                let stored = span.attributes.get(name).unwrap_or(&Value::Null);
                attribute_equals(stored, wanted)
            }),
            Condition::AttributeKeys(names) => {
                let mut names = names.iter();
                names.all(|name| span.attributes.contains_key(name))
            }
            Condition::Status(status) => span.status == *status,
            Condition::Duration(bound, limit) => {
                let taken = TimeDelta::seconds(span.duration.as_secs_f64());
                match bound {
                    Bound::Least => taken.is_none_or(|taken| taken >= *limit),
                    Bound::Most => taken.is_some_and(|taken| taken <= *limit),
                }
            }
            Condition::Not(query) => !query.matches(node)?,
            Condition::And(queries) => !any(queries, |query| Ok(!query.matches(node)?))?,
            Condition::Or(queries) => any(queries, |query| query.matches(node))?,
            Condition::Count(relatives, bound, limit) => {
                let count = number(match relatives {
                    Relatives::Children => span.children.len(),
                    Relatives::Descendants => node.descendant_count(),
                    Relatives::Ancestors => node.depth(),
                });
                match bound {
                    Bound::Least => count >= *limit,
                    Bound::Most => count <= *limit,
                }
            }
            Condition::Related(relatives, quantity, query) => {
                let some = |holds: &Property<'_>| self.any_relative(*relatives, node, holds);
                match quantity {
                    Quantity::Some => some(&|other| query.matches(other))?,
                    Quantity::All => !some(&|other| Ok(!query.matches(other)?))?,
                    Quantity::None => !some(&|other| query.matches(other))?,
                }
            }
        })
    }

    fn any_relative(
        &self,
        relatives: Relatives,
        node: &Node<'_>,
        holds: &Property<'_>,
    ) -> Result<bool, SpanQueryError> {
        let stops = |other: &Node<'_>| match &self.stop {
            Some(query) => query.matches(other),
            None => Ok(false),
        };
        match relatives {
            Relatives::Children => node.any_child(holds),
            Relatives::Descendants => node.any_descendant(&stops, holds),
            Relatives::Ancestors => node.any_ancestor(&stops, holds),
        }
    }
}

fn any(
    queries: &[SpanQuery],
    holds: impl Fn(&SpanQuery) -> Result<bool, SpanQueryError>,
) -> Result<bool, SpanQueryError> {
    for query in queries {
        if holds(query)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an attribute has a value. Attributes of OpenTelemetry cannot be objects, so libraries store their JSON text.
fn attribute_equals(stored: &Value, wanted: &Value) -> bool {
    if equal(stored, wanted) {
        return true;
    }
    match stored {
        Value::String(text) if wanted.is_object() || wanted.is_array() => {
            serde_json::from_str(text).is_ok_and(|parsed: Value| equal(&parsed, wanted))
        }
        _ => false,
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody records 2^53 spans")]
fn number(count: usize) -> f64 {
    count as f64
}
