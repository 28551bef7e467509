//! Queries of spans, in pydantic-evals' language.

mod node;

use evals::{Span, SpanStatus, SpanTree};
use evals_messages::{mismatch, nearest};
use evals_metrics::as_f64;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thiserror::Error;

use self::node::{Node, Property};
use crate::python::{MatchPlace, Pattern, PatternError, TimeDelta, equal};

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
/// let query: SpanQuery = serde_json::from_value(json!({
///     "has_attributes": {"gen_ai.tool.name": "search"},
///     "some_ancestor_has": {"name_contains": "agent"},
///     "max_child_count": 0,
/// }))?;
/// assert!(query.matches_any(&spans)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct SpanQuery(Box<Conditions>);

/// A query that takes too long for a span.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct SpanQueryError(#[from] PatternError);

/// The conditions that all have to hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Conditions {
    name_equals: Option<String>,
    name_contains: Option<String>,
    name_matches_regex: Option<NamePattern>,
    has_attributes: Option<Map<String, Value>>,
    has_attribute_keys: Option<Vec<String>>,
    has_status: Option<SpanStatus>,
    min_duration: Option<TimeDelta>,
    max_duration: Option<TimeDelta>,
    not_: Option<SpanQuery>,
    and_: Option<Vec<SpanQuery>>,
    or_: Option<Vec<SpanQuery>>,
    min_child_count: Option<f64>,
    max_child_count: Option<f64>,
    some_child_has: Option<SpanQuery>,
    all_children_have: Option<SpanQuery>,
    no_child_has: Option<SpanQuery>,
    stop_recursing_when: Option<SpanQuery>,
    min_descendant_count: Option<f64>,
    max_descendant_count: Option<f64>,
    some_descendant_has: Option<SpanQuery>,
    all_descendants_have: Option<SpanQuery>,
    no_descendant_has: Option<SpanQuery>,
    min_depth: Option<f64>,
    max_depth: Option<f64>,
    some_ancestor_has: Option<SpanQuery>,
    all_ancestors_have: Option<SpanQuery>,
    no_ancestor_has: Option<SpanQuery>,
}

/// A pattern that has to match from the start of a name on.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
struct NamePattern(Pattern);

/// The names of all conditions, in the order of pydantic-evals.
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

impl TryFrom<String> for NamePattern {
    type Error = PatternError;

    fn try_from(written: String) -> Result<Self, PatternError> {
        Pattern::new(&written, MatchPlace::Start, "").map(Self)
    }
}

impl TryFrom<Map<String, Value>> for SpanQuery {
    type Error = String;

    fn try_from(conditions: Map<String, Value>) -> Result<Self, String> {
        if let Some(unknown) = conditions
            .keys()
            .find(|it| !CONDITIONS.contains(&it.as_str()))
        {
            let near = nearest::did_you_mean(nearest::all(unknown, CONDITIONS));
            return Err(format!("no condition is called `{unknown}`{near}"));
        }
        if conditions.contains_key("or_") && conditions.len() > 1 {
            return Err("`or_` must stand alone; move it into the list of an `and_`".to_owned());
        }
        let read = serde_path_to_error::deserialize(Value::Object(conditions));
        read.map(|conditions| Self(Box::new(conditions)))
            .map_err(|error| {
                let problem = mismatch::in_yaml(&error.inner().to_string());
                format!("`{}`: {problem}", error.path())
            })
    }
}

impl SpanQuery {
    /// Whether any span of the tree matches. Fails if a regular expression takes too many steps for a span's name.
    pub fn matches_any(&self, spans: &SpanTree) -> Result<bool, SpanQueryError> {
        Ok(Node::any_in(spans, &|node| self.matches(node))?)
    }

    fn matches(&self, node: &Node<'_>) -> Result<bool, PatternError> {
        let conditions = &self.0;
        Ok(conditions.hold_for(node.span)?
            && conditions.joined_hold(node)?
            && conditions.hold_for_relatives(node)?)
    }
}

impl Conditions {
    /// The conditions on the span itself.
    fn hold_for(&self, span: &Span) -> Result<bool, PatternError> {
        let name = |wanted: &String| span.name == *wanted;
        let part = |part: &String| span.name.contains(part);
        let attributes = |wanted: &Map<String, Value>| {
            wanted.iter().all(|(name, wanted)| {
                let stored = span.attributes.get(name).unwrap_or(&Value::Null);
                attribute_equals(stored, wanted)
            })
        };
        let keys = |names: &Vec<String>| {
            let mut names = names.iter();
            names.all(|name| span.attributes.contains_key(name))
        };
        let taken = TimeDelta::seconds(span.duration.as_secs_f64());
        let holds = self.name_equals.as_ref().is_none_or(name)
            && self.name_contains.as_ref().is_none_or(part)
            && self.has_attributes.as_ref().is_none_or(attributes)
            && self.has_attribute_keys.as_ref().is_none_or(keys)
            && self.has_status.is_none_or(|status| span.status == status)
            // A duration that is too long for Python is longer than any limit.
            && self.min_duration.is_none_or(|least| taken.is_none_or(|taken| taken >= least))
            && self.max_duration.is_none_or(|most| taken.is_some_and(|taken| taken <= most));
        match &self.name_matches_regex {
            Some(NamePattern(pattern)) if holds => pattern.is_match(&span.name),
            _ => Ok(holds),
        }
    }

    /// `not_`, `and_` and `or_`.
    fn joined_hold(&self, node: &Node<'_>) -> Result<bool, PatternError> {
        if let Some(query) = &self.not_
            && query.matches(node)?
        {
            return Ok(false);
        }
        for query in self.and_.iter().flatten() {
            if !query.matches(node)? {
                return Ok(false);
            }
        }
        for query in self.or_.iter().flatten() {
            if query.matches(node)? {
                return Ok(true);
            }
        }
        Ok(self.or_.is_none())
    }

    fn hold_for_relatives(&self, node: &Node<'_>) -> Result<bool, PatternError> {
        let stops = |other: &Node<'_>| match &self.stop_recursing_when {
            Some(query) => query.matches(other),
            None => Ok(false),
        };
        let children = Relatives {
            least: self.min_child_count,
            most: self.max_child_count,
            some: self.some_child_has.as_ref(),
            all: self.all_children_have.as_ref(),
            none: self.no_child_has.as_ref(),
        };
        let descendants = Relatives {
            least: self.min_descendant_count,
            most: self.max_descendant_count,
            some: self.some_descendant_has.as_ref(),
            all: self.all_descendants_have.as_ref(),
            none: self.no_descendant_has.as_ref(),
        };
        let ancestors = Relatives {
            least: self.min_depth,
            most: self.max_depth,
            some: self.some_ancestor_has.as_ref(),
            all: self.all_ancestors_have.as_ref(),
            none: self.no_ancestor_has.as_ref(),
        };
        Ok(
            children.hold(|| node.span.children.len(), |holds| node.any_child(holds))?
                && descendants.hold(
                    || node.descendant_count(),
                    |holds| node.any_descendant(&stops, holds),
                )?
                && ancestors.hold(|| node.depth(), |holds| node.any_ancestor(&stops, holds))?,
        )
    }
}

/// The conditions on the spans below or above a span.
struct Relatives<'q> {
    least: Option<f64>,
    most: Option<f64>,
    some: Option<&'q SpanQuery>,
    all: Option<&'q SpanQuery>,
    none: Option<&'q SpanQuery>,
}

impl Relatives<'_> {
    /// Whether the conditions hold. `count` counts the relatives, and `any` says whether one of them has a property.
    fn hold(
        &self,
        count: impl Fn() -> usize,
        any: impl Fn(&Property<'_>) -> Result<bool, PatternError>,
    ) -> Result<bool, PatternError> {
        let count = || as_f64(count());
        if self.least.is_some_and(|least| count() < least)
            || self.most.is_some_and(|most| count() > most)
        {
            return Ok(false);
        }
        if let Some(query) = self.some
            && !any(&|other| query.matches(other))?
        {
            return Ok(false);
        }
        if let Some(query) = self.all
            && any(&|other| Ok(!query.matches(other)?))?
        {
            return Ok(false);
        }
        match self.none {
            Some(query) => Ok(!any(&|other| query.matches(other))?),
            None => Ok(true),
        }
    }
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
