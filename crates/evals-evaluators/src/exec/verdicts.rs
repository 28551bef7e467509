//! Verdicts as a command writes them: `true`, `0.5`, `"polite"`, `{value, reason}`, or an object with one of these for each name.

use evals::{EvaluatorError, FailureClass, Outcome, Value as Verdict};
use evals_targets::process::Protocol;
use serde_json::{Map, Value};

/// The keys of a verdict that is an object.
const KEYS: [&str; 2] = ["value", "reason"];

/// Names of fields in greetings and logs. Without an id, an object that has one passes for no verdict: it would be taken for that of
/// one case, and the verdict on that case for the next one's.
const LOGGED: [&str; 11] = [
    "event",
    "level",
    "log",
    "logger",
    "message",
    "msg",
    "ready",
    "started",
    "status",
    "time",
    "timestamp",
];

/// The lines of an evaluator's command.
#[derive(Debug)]
pub(super) struct Verdicts;

impl Protocol for Verdicts {
    /// An object of outcomes counts, unless it could be a greeting or a line of a log.
    fn is_reply(&self, line: &Value) -> bool {
        match line {
            Value::Object(fields) => {
                let has = |name: &&str| fields.contains_key(*name);
                ["value", "error"].iter().any(has) || !fields.is_empty() && !LOGGED.iter().any(has)
            }
            Value::Array(_) => false,
            _ => true,
        }
    }

    fn expected(&self) -> &'static str {
        "`true`, `0.5`, `\"polite\"`, an object such as `{\"value\": true, \"reason\": …}`, or one with a value for each name; outcomes \
         that are named as fields of logs are, such as `status`, need the `id` of the request beside them"
    }
}

/// Reads a reply. `name` names a single outcome.
pub(super) fn read(name: &str, reply: Value) -> Result<Vec<Outcome>, EvaluatorError> {
    let Value::Object(mut fields) = reply else {
        return Ok(vec![outcome(name, &reply, None)?]);
    };
    fields.shift_remove("id");
    match fields.get("error") {
        Some(Value::String(message)) => return Err(refused(message.clone())),
        Some(Value::Null) => drop(fields.shift_remove("error")),
        _ => {}
    }
    if fields.contains_key("value") {
        return Ok(vec![reasoned(name, &fields)?]);
    }
    let named = fields.iter().map(|(name, value)| match value {
        Value::Object(fields) => reasoned(name, fields),
        value => outcome(name, value, None),
    });
    named.collect()
}

fn reasoned(name: &str, fields: &Map<String, Value>) -> Result<Outcome, EvaluatorError> {
    let value = fields.get("value");
    let value = value.ok_or_else(|| refused(format!("`{name}` is an object without a `value`")))?;
    // Nothing shows a further fact about a verdict, so it would be lost; as an outcome of its own it is in the report.
    if let Some(key) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(refused(format!(
            "`{name}` has the key `{key}` beside `value`, where only `reason` may stand; write two outcomes as \
             {{\"id\": …, \"{name}\": {{\"value\": …}}, \"{key}\": …}}"
        )));
    }
    match fields.get("reason") {
        None | Some(Value::Null) => outcome(name, value, None),
        Some(Value::String(reason)) => outcome(name, value, Some(reason)),
        Some(other) => Err(refused(format!(
            "the `reason` of `{name}` must be a text, not `{other}`"
        ))),
    }
}

/// A truth value is an assertion, a number a score, a text a label. `null` is undefined.
fn outcome(name: &str, value: &Value, reason: Option<&String>) -> Result<Outcome, EvaluatorError> {
    let verdict = match value {
        Value::Bool(passed) => Verdict::Assertion(*passed),
        Value::Number(score) => Verdict::Score(score.as_f64().unwrap_or(f64::NAN)),
        Value::String(label) => Verdict::Label(label.clone()),
        Value::Null => Verdict::Undefined,
        Value::Array(_) | Value::Object(_) => {
            return Err(refused(format!(
                "`{name}` must be a truth value, a number, a text or `null`, not `{value}`"
            )));
        }
    };
    let reason = match (&verdict, reason) {
        (_, Some(reason)) => Some(reason.clone()),
        (Verdict::Undefined, None) => Some("the command gave no value".to_owned()),
        (_, None) => None,
    };
    Ok(Outcome {
        name: name.to_owned(),
        value: verdict,
        reason,
        evidence: Vec::new(),
    })
}

fn refused(message: String) -> EvaluatorError {
    EvaluatorError::new(message).classed(FailureClass::Content)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_as_polite(reply: Value) -> Result<Vec<Outcome>, String> {
        read("polite", reply).map_err(|error| error.get_ref().to_string())
    }

    #[test]
    fn a_single_verdict_has_the_name_of_the_evaluator() {
        let because = |outcome: Outcome| vec![outcome.because("it says please")];
        for (reply, expected) in [
            (json!(true), vec![Outcome::assertion("polite", true)]),
            (json!(0.5), vec![Outcome::score("polite", 0.5)]),
            (json!("very"), vec![Outcome::label("polite", "very")]),
            (
                json!({"id": "q", "value": 3}),
                vec![Outcome::score("polite", 3.0)],
            ),
            (
                json!({"id": "q", "value": false, "reason": "it says please"}),
                because(Outcome::assertion("polite", false)),
            ),
            (
                json!({"value": true, "reason": null, "error": null}),
                vec![Outcome::assertion("polite", true)],
            ),
            (
                json!({"value": null, "reason": "it says please"}),
                because(Outcome::undefined("polite", "")),
            ),
            (
                json!(null),
                vec![Outcome::undefined("polite", "the command gave no value")],
            ),
        ] {
            assert_eq!(read_as_polite(reply).unwrap(), expected);
        }
    }

    #[test]
    fn an_object_gives_each_name_its_verdict_in_order() {
        let reply = json!({
            "id": "q", "words": 12, "ok": {"value": true, "reason": "short"}, "tone": "formal",
        });
        let expected = [
            Outcome::score("words", 12.0),
            Outcome::assertion("ok", true).because("short"),
            Outcome::label("tone", "formal"),
        ];
        assert_eq!(read_as_polite(reply).unwrap(), expected);
        assert_eq!(read_as_polite(json!({"id": "q"})).unwrap(), []);
    }

    #[test]
    fn other_values_are_failures_of_the_evaluator() {
        let refused = |reply| read_as_polite(reply).unwrap_err();
        assert_eq!(refused(json!({"id": "q", "error": "no model"})), "no model");
        assert_eq!(
            refused(json!({"tone": ["formal"]})),
            "`tone` must be a truth value, a number, a text or `null`, not `[\"formal\"]`"
        );
        assert_eq!(
            refused(json!({"tone": {"reason": "?"}})),
            "`tone` is an object without a `value`"
        );
        assert_eq!(
            refused(json!({"value": 1, "reason": 2})),
            "the `reason` of `polite` must be a text, not `2`"
        );
    }

    #[test]
    fn a_key_beside_a_value_is_refused_and_not_lost() {
        let advice = |name: &str, reply| {
            let expected = format!(
                "`{name}` has the key `confidence` beside `value`, where only `reason` may stand; write two outcomes as \
                 {{\"id\": …, \"{name}\": {{\"value\": …}}, \"confidence\": …}}"
            );
            assert_eq!(read_as_polite(reply).unwrap_err(), expected);
        };
        let verdict = json!({"value": true, "reason": "it says please", "confidence": 0.9});
        advice("polite", verdict.clone());
        advice("tone", json!({"tone": verdict}));
        let followed =
            json!({"polite": {"value": true, "reason": "it says please"}, "confidence": 0.9});
        let expected = [
            Outcome::assertion("polite", true).because("it says please"),
            Outcome::score("confidence", 0.9),
        ];
        assert_eq!(read_as_polite(followed).unwrap(), expected);
    }

    #[test]
    fn a_greeting_and_a_line_of_a_log_are_no_verdicts() {
        for line in [
            json!({"status": "ready"}),
            json!({"level": "info", "msg": "loaded", "seconds": 3}),
            json!({}),
            json!([true]),
        ] {
            assert!(!Verdicts.is_reply(&line), "{line}");
        }
        for line in [
            json!({"value": true}),
            json!(true),
            json!({"tone": "a", "len": 3.5}),
            json!({"ok": {"value": true, "reason": "short"}}),
            json!({"value": true, "status": "ready"}),
        ] {
            assert!(Verdicts.is_reply(&line), "{line}");
        }
    }
}
