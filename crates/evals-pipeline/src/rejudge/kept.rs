//! The verdicts of the stored run's further judges that are not asked again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use evals::{CaseOutcome, Context, Dataset, Evaluator, EvaluatorError, Outcome};
use evals_rag::qa::Qa;
use evals_rag::rag_judges::{JudgeAgreement, JudgedMeasure};
use evals_runs::judged_by::JudgeRecords;
use serde_json::{Map, Value};

use super::stored::Stored;

/// The further judges whose verdicts a new report takes over: the names of their evaluators, each with those of its outcomes.
#[derive(Debug, Default)]
pub(super) struct KeptJudges(BTreeMap<String, BTreeSet<String>>);

impl KeptJudges {
    /// Those of the judges claim by claim and of the rubrics in the stored run that are not in `again`. `rubrics` are those of the stored
    /// run, by name.
    pub(super) fn of(
        stored: &Stored,
        rubrics: &Map<String, Value>,
        again: &BTreeSet<String>,
    ) -> Self {
        let is_judge = |name: &str| {
            let is_measure = name.parse::<JudgedMeasure>().is_ok();
            is_measure || rubrics.contains_key(name)
        };
        let mut kept: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for outcome in stored.cases().flat_map(|case| &case.outcomes) {
            let evaluator = &outcome.evaluator;
            if is_judge(evaluator) && !again.contains(evaluator) {
                let outcomes = kept.entry(evaluator.clone()).or_default();
                outcomes.insert(outcome.name.clone());
            }
        }
        Self(kept)
    }

    /// The names of the judges.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Adds the judges of the kept verdicts from `former`, the records of the stored run.
    pub(super) fn enter(&self, records: &mut JudgeRecords, former: Option<&JudgeRecords>) {
        for outcome in self.0.values().flatten() {
            records.enter_kept(outcome, former, outcome);
        }
    }

    /// Adds the verdicts to `dataset`, under the names of their evaluators. `counts_votes` says that the dataset has the tables of how far
    /// judges agree; otherwise they are added for kept votes.
    pub(super) fn add_to(
        &self,
        mut dataset: Dataset<Qa>,
        stored: &Arc<Stored>,
        counts_votes: bool,
    ) -> Dataset<Qa> {
        let outcomes = stored.cases().flat_map(|case| &case.outcomes);
        let mut kept = outcomes.filter(|outcome| self.0.contains_key(&outcome.evaluator));
        let has_votes = |it: &CaseOutcome| it.evidence.iter().any(|it| it.votes.len() > 1);
        if !counts_votes && kept.any(has_votes) {
            dataset = dataset.report_evaluator(JudgeAgreement);
        }
        for name in self.names() {
            dataset = dataset.evaluator(KeptVerdicts {
                name: name.to_owned(),
                stored: Arc::clone(stored),
            });
        }
        dataset
    }
}

/// Copies the verdicts of one judge.
#[derive(Debug)]
struct KeptVerdicts {
    name: String,
    stored: Arc<Stored>,
}

#[async_trait]
impl Evaluator<Qa> for KeptVerdicts {
    fn name(&self) -> &str {
        &self.name
    }

    async fn evaluate(&self, context: &Context<'_, Qa>) -> Result<Vec<Outcome>, EvaluatorError> {
        let Some(case) = self.stored.find(&context.case.id, context.repeat) else {
            return Ok(Vec::new());
        };
        let failures = &case.evaluator_failures;
        if let Some(failure) = failures.iter().find(|it| it.evaluator == self.name) {
            // Nobody asks the judge again, so the failure stands.
            return Err(EvaluatorError::new(failure.message.clone()));
        }
        let kept = case.outcomes.iter().filter(|it| it.evaluator == self.name);
        let kept = kept.map(|outcome| Outcome {
            name: outcome.name.clone(),
            value: outcome.value.clone(),
            reason: outcome.reason.clone(),
            evidence: outcome.evidence.clone(),
        });
        Ok(kept.collect())
    }
}
