//! The evaluators say what those of pydantic-evals say, value for value and reason for reason.
//!
//! `tests/golden/checks.py` makes the cases by running that package.

mod demo;
mod differences;

use std::sync::Arc;
use std::time::Duration;

use evals::{
    Case, Context, Evaluator, Outcome, Recording, SpanTree, SpecArguments, Value as Verdict,
};
use evals_evaluators::{Built, Untyped};
use futures::executor::block_on;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::differences::DIFFERENCES;
use crate::registered::build;

const GOLDEN: &str = include_str!("../../golden/checks.json");

#[derive(Deserialize)]
struct Golden {
    spans: SpanTree,
    cases: Vec<GoldenCase>,
}

#[derive(Deserialize)]
struct GoldenCase {
    evaluator: String,
    arguments: Map<String, Value>,
    judged: Judged,
    /// The arguments as pydantic-evals writes them back; absent if it refuses them.
    #[serde(default, deserialize_with = "present")]
    spec: Option<Value>,
    outcomes: Option<Vec<Value>>,
    failure: Option<String>,
}

#[derive(Deserialize)]
struct Judged {
    output: Value,
    #[serde(default)]
    expected: Value,
    #[serde(default)]
    duration: f64,
    #[serde(default)]
    metrics: Map<String, Value>,
    #[serde(default)]
    spans: Value,
}

/// The result of a case.
#[derive(Debug, PartialEq)]
enum End {
    Outcomes(Vec<Value>),
    Failure,
    Refused,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Golden {
    fn read() -> Self {
        let golden: Value = serde_json::from_str(GOLDEN).unwrap();
        Self {
            spans: serde_json::from_value(json!({"roots": golden["spans"]})).unwrap(),
            cases: serde_json::from_value(golden["cases"].clone()).unwrap(),
        }
    }

    fn recording(&self, judged: &Judged) -> Recording {
        let metrics = judged.metrics.iter();
        Recording {
            metrics: metrics
                .map(|(name, value)| (name.clone(), value.as_f64().unwrap()))
                .collect(),
            spans: match &judged.spans {
                Value::Null => None,
                Value::String(_) => Some(self.spans.clone()),
                roots => Some(serde_json::from_value(json!({"roots": roots})).unwrap()),
            },
            ..Recording::default()
        }
    }
}

impl GoldenCase {
    fn theirs(&self) -> End {
        match (&self.outcomes, &self.failure) {
            (Some(outcomes), _) => End::Outcomes(outcomes.clone()),
            (None, Some(_)) => End::Failure,
            (None, None) => End::Refused,
        }
    }

    fn argument(&self, name: &str) -> Option<&Value> {
        self.arguments.get(name)
    }

    /// The arguments of the first tool call, in a case with spans of its own.
    fn recorded_arguments(&self) -> Option<&str> {
        let call = self.judged.spans.get(0)?;
        call["attributes"]["gen_ai.tool.call.arguments"].as_str()
    }

    fn built(&self) -> Option<Arc<dyn Evaluator<Untyped>>> {
        match build(
            &self.evaluator,
            SpecArguments::Named(self.arguments.clone()),
        ) {
            Ok(Built::Case(evaluator)) => Some(evaluator),
            Ok(Built::Report(_)) => panic!("{} judges reports", self.evaluator),
            Err(_) => None,
        }
    }

    fn ours(&self, golden: &Golden) -> End {
        let Some(evaluator) = self.built() else {
            return End::Refused;
        };
        let case =
            Case::<Untyped>::new("case", Value::Null).expecting(self.judged.expected.clone());
        let recording = golden.recording(&self.judged);
        let context = Context {
            duration: Duration::from_secs_f64(self.judged.duration),
            recording: &recording,
            ..Context::new(&case, &self.judged.output)
        };
        match block_on(evaluator.evaluate(&context)) {
            Ok(outcomes) => End::Outcomes(outcomes.iter().map(as_json).collect()),
            Err(_) => End::Failure,
        }
    }

    fn title(&self) -> String {
        format!(
            "{} {}",
            self.evaluator,
            Value::Object(self.arguments.clone())
        )
    }
}

pub(crate) fn as_json(outcome: &Outcome) -> Value {
    let value = match &outcome.value {
        Verdict::Assertion(passed) => json!(passed),
        Verdict::Score(score) => json!(score),
        Verdict::Label(label) => json!(label),
        Verdict::Undefined => Value::Null,
    };
    json!({"name": outcome.name, "value": value, "reason": outcome.reason})
}

#[test]
fn outcomes_and_reasons_equal_those_of_pydantic_evals() {
    let golden = Golden::read();
    let mut equal = 0;
    let mut used = vec![0; DIFFERENCES.len()];
    for case in &golden.cases {
        let (ours, theirs) = (case.ours(&golden), case.theirs());
        if ours == theirs {
            equal += 1;
            continue;
        }
        let known = DIFFERENCES.iter().position(|known| (known.is)(case));
        let known = known.unwrap_or_else(|| {
            panic!("{}: {ours:?} is not {theirs:?}", case.title());
        });
        let difference = &DIFFERENCES[known];
        assert!(
            difference.ours.is(&ours),
            "{}: {ours:?}: {}",
            case.title(),
            difference.why
        );
        used[known] += 1;
    }
    for (difference, cases) in DIFFERENCES.iter().zip(&used) {
        assert!(*cases > 0, "no case differs: {}", difference.why);
    }
    assert_eq!(equal + used.iter().sum::<usize>(), golden.cases.len());
    assert!(equal > 1_400, "only {equal} cases are equal");
}

#[test]
fn evaluators_write_their_arguments_as_pydantic_evals_does() {
    let mut written = 0;
    for case in &Golden::read().cases {
        let (Some(evaluator), Some(theirs)) = (case.built(), &case.spec) else {
            continue;
        };
        let ours = evaluator.spec().unwrap();
        assert_eq!(ours.name, case.evaluator);
        assert_eq!(
            serde_json::to_value(ours.arguments).unwrap(),
            *theirs,
            "{}",
            case.title()
        );
        written += 1;
    }
    assert!(written > 1_400, "only {written} were built");
}
