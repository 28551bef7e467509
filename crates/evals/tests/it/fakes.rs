//! A domain, evaluators and reports for tests.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use evals::{
    Case, CaseOutcome, CaseReport, Concern, Context, Dataset, Direction, Domain, Evaluator,
    EvaluatorError, EvaluatorOrigin, Experiment, Outcome, Report, SchemaVersion, TaskError,
    TaskResult, TaskScope, Timing, Value,
};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Words;

impl Domain for Words {
    type Input = String;
    type Output = String;
    type Expected = String;
    type Metadata = ();

    fn mean_title(score: &str) -> Option<String> {
        (score == "luck").then(|| "mean luck".to_owned())
    }
}

type Judge = dyn Fn(&Context<'_, Words>) -> Result<Vec<Outcome>, EvaluatorError> + Send + Sync;

type Announce = dyn Fn(&Case<Words>) -> Option<Vec<Concern>> + Send + Sync;

/// An evaluator made from a closure.
#[derive(Clone)]
pub(crate) struct Scripted {
    name: &'static str,
    judge: Arc<Judge>,
    concerns: Option<Arc<Announce>>,
    delay: Duration,
}

impl Scripted {
    pub(crate) fn new(
        name: &'static str,
        judge: impl Fn(&Context<'_, Words>) -> Result<Vec<Outcome>, EvaluatorError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self {
            name,
            judge: Arc::new(judge),
            concerns: None,
            delay: Duration::ZERO,
        }
    }

    /// Always returns one outcome.
    pub(crate) fn constant(name: &'static str, outcome: Outcome) -> Self {
        Self::new(name, move |_| Ok(vec![outcome.clone()]))
    }

    /// Declares its outcomes for a case.
    pub(crate) fn about(
        mut self,
        concerns: impl Fn(&Case<Words>) -> Option<Vec<Concern>> + Send + Sync + 'static,
    ) -> Self {
        self.concerns = Some(Arc::new(concerns));
        self
    }

    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Scripted")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Evaluator<Words> for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    async fn evaluate(&self, context: &Context<'_, Words>) -> Result<Vec<Outcome>, EvaluatorError> {
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        (self.judge)(context)
    }

    fn concerns(&self, case: &Case<Words>) -> Option<Vec<Concern>> {
        self.concerns.as_ref()?(case)
    }
}

pub(crate) fn case(id: &str) -> Case<Words> {
    Case::new(id, format!("input of {id}"))
}

pub(crate) fn dataset(ids: impl IntoIterator<Item = impl AsRef<str>>) -> Dataset<Words> {
    Dataset::new("words", ids.into_iter().map(|id| case(id.as_ref()))).unwrap()
}

pub(crate) fn numbered(count: usize) -> Dataset<Words> {
    dataset((0..count).map(|number| format!("case {number}")))
}

/// Runs a dataset with a task that returns its input.
pub(crate) async fn echo(dataset: Dataset<Words>) -> Report<Words> {
    Experiment::new(dataset, |case: Arc<Case<Words>>, _: TaskScope| async move {
        Ok::<_, TaskError>(case.input.clone())
    })
    .run()
    .await
}

/// A report of finished cases, written by hand.
pub(crate) fn report(cases: Vec<CaseReport<Words>>) -> Report<Words> {
    Report {
        schema_version: SchemaVersion,
        name: "bm25".to_owned(),
        dataset: "sample".to_owned(),
        repeat: 1,
        interrupted: false,
        not_run: 0,
        stopped: None,
        duration: Duration::from_millis(1_240),
        metadata: serde_json::Map::new(),
        pools_assertions: true,
        cluster: None,
        observer_failures: Vec::new(),
        evaluators: Vec::new(),
        analyses: Vec::new(),
        report_evaluator_failures: Vec::new(),
        cases,
    }
}

/// A case that succeeded in 2 ms.
pub(crate) fn finished(id: &str, outcomes: Vec<CaseOutcome>) -> CaseReport<Words> {
    CaseReport {
        id: id.into(),
        repeat: 1,
        input: format!("input of {id}"),
        expected: None,
        metadata: (),
        cluster: None,
        result: TaskResult::Output(format!("output of {id}")),
        attempts: 1,
        own_evaluators: Vec::new(),
        outcomes,
        evaluator_failures: Vec::new(),
        retried_evaluators: Vec::new(),
        missed: Vec::new(),
        teardown_failure: None,
        duration: Duration::from_millis(2),
        timings: Vec::new(),
        metrics: BTreeMap::new(),
        undefined_metrics: BTreeMap::new(),
        attributes: BTreeMap::new(),
        spans: None,
    }
}

pub(crate) fn failed(id: &str, message: &str) -> CaseReport<Words> {
    let failure = serde_json::json!({"kind": "error", "message": message});
    CaseReport {
        result: TaskResult::Failure(serde_json::from_value(failure).unwrap()),
        ..finished(id, Vec::new())
    }
}

/// An outcome of the evaluator of the same name.
pub(crate) fn outcome(name: &str, value: Value) -> CaseOutcome {
    CaseOutcome {
        name: name.to_owned(),
        given_name: None,
        evaluator: name.to_owned(),
        origin: EvaluatorOrigin::default(),
        better: Direction::Higher,
        value,
        reason: None,
        evidence: Vec::new(),
    }
}

pub(crate) fn score(name: &str, score: f64) -> CaseOutcome {
    outcome(name, Value::Score(score))
}

pub(crate) fn undefined(name: &str, reason: &str) -> CaseOutcome {
    CaseOutcome {
        reason: Some(reason.to_owned()),
        ..outcome(name, Value::Undefined)
    }
}

pub(crate) fn timing(stage: &str, micros: u64, cached: bool) -> Timing {
    Timing {
        stage: stage.to_owned(),
        duration: Duration::from_micros(micros),
        cached,
    }
}
