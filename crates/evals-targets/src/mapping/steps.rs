//! The steps in a reply: spans, with every key checked.

use std::time::Duration;

use evals::{Span, SpanStatus, SpanTree};
use evals_messages::nearest;
use serde_json::Value;

use super::fields::{duration, element, field, object, text};
use super::kind;

const SECOND: Duration = Duration::from_secs(1);

/// What a span may say about its step.
const KEYS: [&str; 5] = ["name", "attributes", "seconds", "status", "children"];

/// Steps as a list, or as an object with the list under `roots`.
pub(super) fn spans(place: &str, value: &Value) -> Result<SpanTree, String> {
    let roots = match value.as_object() {
        Some(tree) => {
            if let Some(key) = tree.keys().find(|key| *key != "roots") {
                return Err(format!(
                    "{place} has an unknown key `{key}`: it is a list of spans, or an object with that list under `roots`"
                ));
            }
            tree.get("roots").unwrap_or(&Value::Null)
        }
        None => value,
    };
    let roots = list(place, roots)?;
    Ok(SpanTree { roots })
}

fn list(place: &str, value: &Value) -> Result<Vec<Span>, String> {
    let Value::Array(spans) = value else {
        return Err(format!("{place} is {}, not a list of spans", kind(value)));
    };
    let spans = spans.iter().enumerate();
    spans
        .map(|(index, written)| span(&element(place, index), written))
        .collect()
}

fn span(place: &str, written: &Value) -> Result<Span, String> {
    let fields = object(place, written)?;
    if let Some(key) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(unknown(place, key));
    }
    let given = |key: &str| fields.get(key).filter(|value| !value.is_null());
    let name = given("name").ok_or_else(|| format!("{place} has no `name`"))?;
    let mut span = Span::new(text(&field(place, "name"), name)?);
    if let Some(attributes) = given("attributes") {
        let attributes = object(&field(place, "attributes"), attributes)?;
        span.attributes.clone_from(attributes);
    }
    if let Some(seconds) = given("seconds") {
        span.duration = duration(&field(place, "seconds"), seconds, SECOND)?;
    }
    if let Some(status) = given("status") {
        span.status = self::status(&field(place, "status"), status)?;
    }
    if let Some(children) = given("children") {
        span.children = list(&field(place, "children"), children)?;
    }
    Ok(span)
}

fn unknown(place: &str, key: &str) -> String {
    // The names under which other programs write how long a step took.
    let is_duration = ["duration", "duration_seconds", "latency", "elapsed"].contains(&key);
    let nearest = if is_duration {
        vec!["seconds"]
    } else {
        nearest::all(key, KEYS)
    };
    let hint = if nearest.is_empty() {
        ".".to_owned()
    } else {
        nearest::did_you_mean(nearest)
    };
    format!(
        "{place} has an unknown key `{key}`{hint} A span has `name`, `attributes`, `seconds`, `status` and `children`; other facts belong into `attributes`"
    )
}

fn status(place: &str, value: &Value) -> Result<SpanStatus, String> {
    match text(place, value)?.to_lowercase().as_str() {
        "unset" => Ok(SpanStatus::Unset),
        "ok" => Ok(SpanStatus::Ok),
        "error" => Ok(SpanStatus::Error),
        _ => Err(format!("{place} is {value}, not `ok`, `error` or `unset`")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(value: &Value) -> String {
        spans("`spans`", value).unwrap_err()
    }

    #[test]
    fn a_span_is_read_with_the_steps_inside_it() {
        let tree = json!({"roots": [{
            "name": "plan", "seconds": 1.5, "status": "OK", "attributes": {"tries": 2},
            "children": [{"name": "search", "status": null, "seconds": null}],
        }]});
        let tree = spans("`spans`", &tree).unwrap();
        let [plan] = &tree.roots[..] else {
            panic!("{tree:?}");
        };
        assert_eq!(plan.duration, Duration::from_millis(1500));
        assert_eq!(plan.status, SpanStatus::Ok);
        assert_eq!(plan.attributes["tries"], 2);
        assert_eq!(plan.children, [Span::new("search")]);
    }

    #[test]
    fn an_unknown_key_is_named_with_the_nearest_one() {
        let keys = "A span has `name`, `attributes`, `seconds`, `status` and `children`; other facts belong into `attributes`";
        assert_eq!(
            refused(&json!([{"name": "p", "duration": 2}])),
            format!(
                "element 0 of `spans` has an unknown key `duration`; did you mean `seconds`? {keys}"
            )
        );
        assert_eq!(
            refused(&json!([{"name": "p", "children": [{"name": "q", "atributes": {}}]}])),
            format!(
                "element 0 of `children` in element 0 of `spans` has an unknown key `atributes`; did you mean `attributes`? {keys}"
            )
        );
        assert_eq!(
            refused(&json!([{"name": "p", "kind": 1}])),
            format!("element 0 of `spans` has an unknown key `kind`. {keys}")
        );
    }

    #[test]
    fn a_value_that_is_no_duration_or_status_is_refused() {
        assert_eq!(
            refused(&json!([{"name": "p", "seconds": -1}])),
            "`seconds` in element 0 of `spans` is -1, and a duration is not negative"
        );
        assert_eq!(
            refused(&json!([{"name": "p", "status": "done"}])),
            "`status` in element 0 of `spans` is \"done\", not `ok`, `error` or `unset`"
        );
        assert_eq!(refused(&json!([{}])), "element 0 of `spans` has no `name`");
        assert_eq!(
            refused(&json!("plan")),
            "`spans` is a text, not a list of spans"
        );
    }
}
