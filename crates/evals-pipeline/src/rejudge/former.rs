//! The verdicts of earlier judges, kept next to the new verdict.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{
    Case, CaseOutcome, CaseReport, Concern, Context, Evaluator, EvaluatorError, Outcome, Report,
    Value,
};
use evals_models::ModelIdentity;
use evals_rag::qa::{Equivalence, Qa};
use evals_runs::judged_by::JudgeRecords;
use serde::{Deserialize, Serialize};

use super::stored::Stored;

/// A judge of an earlier report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FormerJudge {
    /// The name of its verdicts in the new report.
    outcome: String,
    /// `None` if the earlier report has only the name of the outcome.
    judge: Option<ModelIdentity>,
}

/// The judges of a stored run, in the order in which they judged.
#[derive(Debug, Clone)]
pub(super) struct FormerJudges(Vec<FormerJudge>);

impl FormerJudges {
    /// The key in a report's metadata that lists its former judges.
    pub(super) const KEY: &str = "former_judges";

    /// The judges of `report`: its former judges, then `last`, who gave its current verdicts.
    pub(super) fn of(report: &Report<Qa>, last: ModelIdentity) -> serde_json::Result<Self> {
        let mut judges = match report.metadata.get(Self::KEY) {
            Some(listed) => Vec::<FormerJudge>::deserialize(listed)?,
            None => judges_of_outcomes(&report.cases),
        };
        let name = format!("{} ({last})", Equivalence::OUTCOME);
        let is_free = |name: &String| judges.iter().all(|former| former.outcome != *name);
        // If the same judge judged before, its earlier verdicts already use the name.
        let outcome = if is_free(&name) {
            name
        } else {
            let mut numbered = (2..).map(|number| format!("{name} #{number}"));
            numbered
                .find(is_free)
                .expect("there are more numbers than judges")
        };
        judges.push(FormerJudge {
            outcome,
            judge: Some(last),
        });
        Ok(Self(judges))
    }

    /// For the metadata of the new report.
    pub(super) fn to_value(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(&self.0)
    }

    /// Adds the judges of the kept verdicts from `former`, the records of the stored run.
    pub(super) fn enter(&self, records: &mut JudgeRecords, former: Option<&JudgeRecords>) {
        let last = self.0.last().map(|last| last.outcome.as_str());
        for name in self.names() {
            let then = if Some(name) == last {
                Equivalence::OUTCOME
            } else {
                name
            };
            records.enter_kept(name, former, then);
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|former| former.outcome.as_str())
    }

    /// The name of a stored verdict in the new report, or `None` if `outcome` is not a verdict.
    fn name_of(&self, outcome: &CaseOutcome) -> Option<&str> {
        let (last, earlier) = self.0.split_last()?;
        if outcome.evaluator == Equivalence::OUTCOME {
            return Some(&last.outcome);
        }
        let mut names = earlier.iter().map(|former| former.outcome.as_str());
        names.find(|name| *name == outcome.name)
    }
}

/// Finds the former judges of a report that does not list them. Their outcomes come from an evaluator that is named after the last
/// of them.
fn judges_of_outcomes(cases: &[CaseReport<Qa>]) -> Vec<FormerJudge> {
    let start = format!("{} (", Equivalence::OUTCOME);
    let outcomes = cases.iter().flat_map(|case| &case.outcomes);
    let former = outcomes.filter(|it| it.evaluator.starts_with(&start));
    let mut seen = BTreeSet::new();
    former
        .filter(|outcome| seen.insert(&outcome.name))
        .map(|outcome| FormerJudge {
            outcome: outcome.name.clone(),
            judge: None,
        })
        .collect()
}

/// Copies every verdict of the stored run: the current one under the name of its judge, earlier ones under their names.
#[derive(Debug)]
pub(super) struct FormerVerdicts {
    judges: FormerJudges,
    stored: Arc<Stored>,
}

impl FormerVerdicts {
    /// The verdicts of `stored`, which `judges` gave.
    pub(super) fn new(judges: FormerJudges, stored: &Arc<Stored>) -> Self {
        Self {
            judges,
            stored: Arc::clone(stored),
        }
    }

    fn outcome(&self, former: &CaseOutcome) -> Option<Outcome> {
        let name = self.judges.name_of(former)?;
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

#[async_trait]
impl Evaluator<Qa> for FormerVerdicts {
    fn name(&self) -> &'static str {
        "former verdicts"
    }

    fn concerns(&self, case: &Case<Qa>) -> Option<Vec<Concern>> {
        let known = case
            .expected
            .as_ref()
            .is_some_and(|expected| expected.answer.is_some());
        let names = self.judges.names().filter(|_| known);
        Some(names.map(Concern::assertion).collect())
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
        for name in self.judges.names() {
            if outcomes.iter().all(|outcome| outcome.name != name) {
                outcomes.push(Outcome::undefined(name, "the former judge failed"));
            }
        }
        Ok(outcomes)
    }
}
