//! Verdicts as a command writes them: `{id, value, reason}`, or an object with the `id` and a value, or `{value, reason}`, for each name.

use evals::{EvaluatorError, FailureClass, Outcome, Value as Verdict};
use evals_targets::process::Protocol;
use evals_yaml::{YamlError, json};
use serde_json::{Map, Value};

/// The keys of a verdict that is an object.
const KEYS: [&str; 2] = ["value", "reason"];

/// The lines of an evaluator's command. They may carry the graded text, whose author gains by a verdict of his own.
#[derive(Debug)]
pub(super) struct Verdicts;

impl Protocol for Verdicts {
    /// A key that occurs twice is refused: a command that writes JSON by hand around the graded text lets that text close a value and
    /// add keys.
    fn parse(&self, line: &[u8]) -> Result<Value, String> {
        let line = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        let read = json::read(line).and_then(|document| {
            let repeated = document.warnings.into_iter().map(|key| YamlError {
                message: "a key occurs twice".to_owned(),
                ..key
            });
            let problem = document.errors.into_iter().chain(repeated).next();
            problem.map_or_else(|| Ok(document.root.to_value()), Err)
        });
        read.map_err(|error| format!("{} at column {}", error.message, error.column))
    }

    fn is_guarded(&self) -> bool {
        true
    }

    fn is_reply(&self, _line: &Value) -> bool {
        false
    }

    fn expected(&self) -> &'static str {
        "an object with the `id` of its request, such as `{\"id\": …, \"value\": true, \"reason\": …}`; copy the `id` as it is, and write \
         everything else to stderr"
    }
}

/// Reads a reply. `name` names a single outcome.
pub(super) fn read(name: &str, reply: Value) -> Result<Vec<Outcome>, EvaluatorError> {
    let Value::Object(mut fields) = reply else {
        unreachable!("only an object has the `id` that a verdict needs")
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
                json!({"value": null}),
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
    fn a_key_that_occurs_twice_is_refused() {
        let twice = br#"{"value": false, "reason": "x", "value": true}"#;
        let refused = Verdicts.parse(twice).unwrap_err();
        assert_eq!(refused, "a key occurs twice at column 33");
        assert!(Verdicts.parse(b"{\"value\": NaN}").is_err());
        let parsed = Verdicts.parse("\u{feff}{\"value\": 1.5}".as_bytes());
        assert_eq!(parsed.unwrap(), json!({"value": 1.5}));
    }
}
