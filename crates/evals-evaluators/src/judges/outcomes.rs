//! Which outcomes `LLMJudge` returns, and under which names.

use evals::{Concern, Outcome};
use serde_json::{Map, Value, json};

use super::verdict::Verdict;
use crate::argument::ArgumentError;
use crate::{Arguments, BuildError};

const WANTED: &str =
    "`false`, or an object with the text `evaluation_name` and the flag `include_reason`";

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
pub(super) struct Announced {
    name: String,
    include_reason: bool,
}

impl Announced {
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

    fn of(&self, outcome: Outcome, reason: &str) -> Outcome {
        if self.include_reason {
            outcome.because(reason)
        } else {
            outcome
        }
    }
}

impl Announcements {
    /// Reads the arguments `score` and `assertion` of the evaluator `name`.
    pub(super) fn read(name: &str, arguments: &Arguments) -> Result<Self, BuildError> {
        let score = config(arguments, "score")?;
        let assertion = config(arguments, "assertion")?;
        let both = score.is_some() && assertion.is_some();
        let named = |config: Config<'_>, suffix: &str| Announced {
            name: match config.evaluation_name {
                Some(given) => given.to_owned(),
                None if both => format!("{name}{suffix}"),
                None => name.to_owned(),
            },
            include_reason: config.include_reason,
        };
        let mut score = score.map(|config| named(config, "_score"));
        let assertion = assertion.map(|config| named(config, "_pass"));
        if let (Some(score), Some(assertion)) = (&mut score, &assertion)
            && score.name == assertion.name
        {
            score.name += "_score";
        }
        Ok(Self { score, assertion })
    }

    /// Whether there is no outcome, and nothing to ask for.
    pub(super) fn is_empty(&self) -> bool {
        self.score.is_none() && self.assertion.is_none()
    }

    /// The outcomes of a verdict.
    pub(super) fn outcomes(&self, verdict: &Verdict) -> Vec<Outcome> {
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

struct Config<'a> {
    evaluation_name: Option<&'a str>,
    include_reason: bool,
}

/// The configuration of one outcome; `None` if there is none.
fn config<'a>(
    arguments: &'a Arguments,
    name: &'static str,
) -> Result<Option<Config<'a>>, ArgumentError> {
    let value = arguments.value(name);
    let wrong = || ArgumentError::new(name, WANTED, value);
    match value {
        Value::Bool(false) => Ok(None),
        Value::Object(object) => read(object).ok_or_else(wrong).map(Some),
        _ => Err(wrong()),
    }
}

/// An empty name counts as none, as in pydantic-evals.
fn read(object: &Map<String, Value>) -> Option<Config<'_>> {
    let mut config = Config {
        evaluation_name: None,
        include_reason: false,
    };
    for (key, value) in object {
        match key.as_str() {
            "evaluation_name" => {
                config.evaluation_name = Some(value.as_str()?).filter(|name| !name.is_empty());
            }
            "include_reason" => config.include_reason = value.as_bool()?,
            _ => return None,
        }
    }
    Some(config)
}
