//! `Not`: turns the assertions of another evaluator round.

use std::sync::Arc;

use async_trait::async_trait;
use evals::{
    Case, Concern, Context, Evaluator, EvaluatorError, EvaluatorSpec, FailureClass, Outcome, Value,
    ValueKind,
};
use serde_json::json;
use thiserror::Error;

use crate::{Entry, Parameter, Signature, Untyped};

const NAME: &str = "Not";

/// Passes where another evaluator fails, and the other way round.
#[derive(Debug)]
struct Not {
    name: String,
    spec: EvaluatorSpec,
    negated: Arc<dyn Evaluator<Untyped>>,
}

/// An outcome that has no opposite.
#[derive(Debug, Error)]
#[error("`{NAME}` turns assertions round, and `{outcome}` is {kind}")]
struct NoAssertion {
    outcome: String,
    kind: &'static str,
}

/// The entry of `Not`.
pub(crate) fn entry() -> Entry {
    let evaluator = Parameter::required(
        "evaluator",
        json!({"$ref": "#/$defs/evaluator"}),
        "The evaluator whose assertions are reversed, in any form of this file.",
    );
    Entry::around(
        NAME,
        "Passes where a given evaluator fails, and fails where it passes.",
        Signature::new([evaluator]),
        |arguments, resources, registry| {
            let negated = registry.nested(arguments.value("evaluator"), resources)?;
            Ok(Arc::new(Not {
                name: opposite(negated.name()),
                spec: arguments.spec(),
                negated,
            }))
        },
    )
}

/// The name of an outcome that is turned round.
fn opposite(name: &str) -> String {
    format!("not {name}")
}

/// Turns an assertion round.
fn negate(outcome: Outcome) -> Result<Outcome, NoAssertion> {
    let kind = match outcome.value {
        Value::Assertion(passed) => {
            // A check that passes seldom says why.
            let passing = || format!("`{}` passed", outcome.name);
            let reason = outcome.reason.or_else(|| passed.then(passing));
            return Ok(Outcome {
                name: opposite(&outcome.name),
                value: Value::Assertion(!passed),
                reason,
                evidence: outcome.evidence,
            });
        }
        Value::Undefined => {
            let name = opposite(&outcome.name);
            return Ok(Outcome { name, ..outcome });
        }
        Value::Score(_) => "a score",
        Value::Label(_) => "a label",
    };
    Err(NoAssertion {
        outcome: outcome.name,
        kind,
    })
}

#[async_trait]
impl Evaluator<Untyped> for Not {
    fn name(&self) -> &str {
        &self.name
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        let outcomes = self.negated.evaluate(context).await?;
        let negated: Result<Vec<Outcome>, NoAssertion> = outcomes.into_iter().map(negate).collect();
        negated.map_err(|error| EvaluatorError::new(error).classed(FailureClass::Content))
    }

    fn spec(&self) -> Option<EvaluatorSpec> {
        Some(self.spec.clone())
    }

    fn version(&self) -> Option<&str> {
        self.negated.version()
    }

    fn concerns(&self, case: &Case<Untyped>) -> Option<Vec<Concern>> {
        let concerns = self.negated.concerns(case)?;
        let assertions = concerns
            .into_iter()
            .filter(|concern| concern.kind == ValueKind::Assertion);
        Some(
            assertions
                .map(|concern| Concern::assertion(opposite(&concern.outcome)))
                .collect(),
        )
    }
}
