//! What earlier judges said, beside the new verdict.

use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, CaseOutcome, Concern, Context, Evaluator, EvaluatorError, Outcome, Value};
use evals_rag::qa::{Equivalence, Qa};

use super::stored::Stored;

/// Keeps every verdict of the stored run: the last one under the judge's name, those before it under the names they have.
#[derive(Debug)]
pub(super) struct FormerVerdicts {
    /// The name of the stored run's own verdict.
    name: String,
    stored: Arc<Stored>,
}

impl FormerVerdicts {
    /// The verdicts of `stored`, of which `judge` gave the last ones.
    pub(super) fn new(judge: &str, stored: &Arc<Stored>) -> Self {
        Self {
            name: named(judge),
            stored: Arc::clone(stored),
        }
    }

    fn outcome(&self, former: &CaseOutcome) -> Option<Outcome> {
        let name = if former.name == Equivalence::OUTCOME {
            self.name.as_str()
        } else if former.name.starts_with(&named("").replace(')', "")) {
            former.name.as_str()
        } else {
            return None;
        };
        let outcome = match &former.value {
            Value::Assertion(passed) => Outcome::assertion(name, *passed),
            Value::Undefined | Value::Score(_) | Value::Label(_) => {
                let reason = former.reason.as_deref();
                return Some(Outcome::undefined(
                    name,
                    reason.unwrap_or("no former verdict"),
                ));
            }
        };
        Some(match &former.reason {
            Some(reason) => outcome.because(reason),
            None => outcome,
        })
    }
}

/// What a verdict is called that is not the run's own.
fn named(judge: &str) -> String {
    format!("{} ({judge})", Equivalence::OUTCOME)
}

#[async_trait]
impl Evaluator<Qa> for FormerVerdicts {
    fn name(&self) -> &str {
        &self.name
    }

    fn concerns(&self, case: &Case<Qa>) -> Option<Vec<Concern>> {
        let known = case
            .expected
            .as_ref()
            .is_some_and(|expected| expected.answer.is_some());
        Some(
            known
                .then(|| Concern::assertion(&self.name))
                .into_iter()
                .collect(),
        )
    }

    async fn evaluate(&self, context: &Context<'_, Qa>) -> Result<Vec<Outcome>, EvaluatorError> {
        let case = self.stored.find(&context.case.id, context.repeat);
        let outcomes = case
            .map(|case| case.outcomes.as_slice())
            .unwrap_or_default();
        let mut outcomes: Vec<Outcome> = outcomes
            .iter()
            .filter_map(|former| self.outcome(former))
            .collect();
        if outcomes.iter().all(|outcome| outcome.name != self.name) {
            outcomes.push(Outcome::undefined(&self.name, "the former judge failed"));
        }
        Ok(outcomes)
    }
}
