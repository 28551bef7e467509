//! Which outcomes `LLMJudge` returns, and under which names.

use evals::{Concern, Outcome};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde_json::{Value, json};

use super::verdict::RubricVerdict;

/// The outcomes of a judge: a score, an assertion, or both.
///
/// Alone, an outcome has the evaluator's name. Beside the other, the score has the suffix `_score` and the assertion `_pass`. A
/// name of the arguments replaces either. If both end up with one name, the score gets the suffix `_score` after all;
/// pydantic-evals loses it.
#[derive(Debug)]
pub(super) struct Announcements {
    score: Option<Announced>,
    assertion: Option<Announced>,
}

/// One outcome of a judge.
#[derive(Debug)]
struct Announced {
    name: String,
    include_reason: bool,
}

/// The argument that asks for an outcome. An empty name counts as none, as in pydantic-evals.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OutcomeArgument {
    evaluation_name: Option<String>,
    include_reason: bool,
}

/// Reads the argument: `false` for no outcome, or an object.
pub(super) fn argument<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<OutcomeArgument>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    if value == false {
        return Ok(None);
    }
    let read = OutcomeArgument::deserialize(&value);
    let read = read.ok().filter(|_| value.is_object());
    read.map(Some).ok_or_else(|| {
        D::Error::custom(format!(
            "expected `false`, or an object with the text `evaluation_name` and the flag `include_reason`, found `{value}`"
        ))
    })
}

/// The JSON Schema of the argument.
pub(super) fn schema() -> Value {
    json!({
        "anyOf": [
            {"const": false},
            {
                "type": "object",
                "properties": {
                    "evaluation_name": {"type": "string"},
                    "include_reason": {"type": "boolean"},
                },
                "additionalProperties": false,
            },
        ]
    })
}

impl Announced {
    fn of(&self, outcome: Outcome, reason: &str) -> Outcome {
        if self.include_reason {
            outcome.because(reason)
        } else {
            outcome
        }
    }
}

impl Announcements {
    /// The outcomes of the evaluator `name` with these arguments.
    pub(super) fn new(
        name: &str,
        score: Option<OutcomeArgument>,
        assertion: Option<OutcomeArgument>,
    ) -> Self {
        let both = score.is_some() && assertion.is_some();
        let announced = |argument: OutcomeArgument, suffix: &str| Announced {
            name: match argument.evaluation_name.filter(|it| !it.is_empty()) {
                Some(given) => given,
                None if both => format!("{name}{suffix}"),
                None => name.to_owned(),
            },
            include_reason: argument.include_reason,
        };
        let mut score = score.map(|argument| announced(argument, "_score"));
        let assertion = assertion.map(|argument| announced(argument, "_pass"));
        if let (Some(score), Some(assertion)) = (&mut score, &assertion)
            && score.name == assertion.name
        {
            score.name += "_score";
        }
        Self { score, assertion }
    }

    /// Whether there is no outcome, and nothing to ask for.
    pub(super) fn is_empty(&self) -> bool {
        self.score.is_none() && self.assertion.is_none()
    }

    /// The outcomes of a verdict.
    pub(super) fn outcomes(&self, verdict: &RubricVerdict) -> Vec<Outcome> {
        let score = self.score.as_ref().map(|announced| {
            let outcome = Outcome::score(&announced.name, verdict.score);
            announced.of(outcome, &verdict.reason)
        });
        let assertion = self.assertion.as_ref().map(|announced| {
            let outcome = Outcome::assertion(&announced.name, verdict.pass);
            announced.of(outcome, &verdict.reason)
        });
        score.into_iter().chain(assertion).collect()
    }

    /// The outcomes of any verdict.
    pub(super) fn concerns(&self) -> Vec<Concern> {
        let score = self.score.as_ref();
        let score = score.map(|announced| Concern::score(&announced.name));
        let assertion = self.assertion.as_ref();
        let assertion = assertion.map(|announced| Concern::assertion(&announced.name));
        score.into_iter().chain(assertion).collect()
    }
}
