//! Stored answers as the task of an experiment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use evals::{Case, CaseId, CaseReport, Dataset, TaskError, TaskResult, TaskScope};
use evals_rag::qa::{Answer, Qa};
use futures::future::BoxFuture;

/// The cases of a report by their id and repetition.
#[derive(Debug)]
pub(super) struct Stored {
    cases: Vec<CaseReport<Qa>>,
    places: BTreeMap<(CaseId, u32), usize>,
}

impl Stored {
    pub(super) fn new(cases: Vec<CaseReport<Qa>>) -> Self {
        let places = cases.iter().zip(0..);
        let places = places.map(|(case, place)| ((case.id.clone(), case.repeat), place));
        Self {
            places: places.collect(),
            cases,
        }
    }

    pub(super) fn find(&self, id: &CaseId, repeat: u32) -> Option<&CaseReport<Qa>> {
        let place = self.places.get(&(id.clone(), repeat))?;
        self.cases.get(*place)
    }

    /// One case for each question that has an answer in any repetition.
    pub(super) fn dataset(&self, name: &str) -> Result<Dataset<Qa>> {
        let mut seen = BTreeSet::new();
        let firsts = self.cases.iter().filter(|case| seen.insert(&case.id));
        let cases = firsts.map(|case| Case {
            id: case.id.clone(),
            input: case.input.clone(),
            expected: case.expected.clone(),
            metadata: (),
            evaluators: Vec::new(),
        });
        Ok(Dataset::new(name, cases.collect::<Vec<_>>())?.assertions_apart())
    }

    /// The task that gives the stored answer, with what its making took marked as not of this run.
    pub(super) fn task(
        self: &Arc<Self>,
    ) -> impl Fn(Arc<Case<Qa>>, TaskScope) -> BoxFuture<'static, Result<Answer, TaskError>> + use<>
    {
        let stored = Arc::clone(self);
        move |case, scope| {
            let answer = stored.answer(&case.id, &scope);
            Box::pin(std::future::ready(answer))
        }
    }

    fn answer(&self, id: &CaseId, scope: &TaskScope) -> Result<Answer, TaskError> {
        let case = self
            .find(id, scope.repeat())
            .ok_or_else(|| TaskError::new("the stored run was ended before this case"))?;
        for timing in &case.timings {
            if !timing.stage.starts_with("judge") {
                scope.cached_timing(timing.stage.clone(), timing.duration);
            }
        }
        for (name, value) in &case.metrics {
            if !name.starts_with("judge") {
                scope.metric(name.clone(), *value);
            }
        }
        for (name, value) in &case.attributes {
            if !name.starts_with("judge") {
                scope.attribute(name.clone(), value.clone());
            }
        }
        match &case.result {
            TaskResult::Output(answer) => Ok(answer.clone()),
            TaskResult::Failure(failure) => {
                let error = TaskError::new(failure.message.clone());
                Err(match failure.class {
                    Some(class) => error.classed(class),
                    None => error,
                })
            }
        }
    }
}
