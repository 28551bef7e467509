//! The stored answers of a run, and the task that replays them in an experiment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Result;
use evals::{Case, CaseId, CaseReport, ClusterKey, Dataset, TaskError, TaskResult, TaskScope};
use evals_rag::Purpose;
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

    /// Every case.
    pub(super) fn cases(&self) -> impl Iterator<Item = &CaseReport<Qa>> {
        self.cases.iter()
    }

    /// The cases that have an answer.
    pub(super) fn answered(&self) -> impl Iterator<Item = (&CaseReport<Qa>, &Answer)> {
        let cases = self.cases.iter();
        cases.filter_map(|case| Some((case, case.result.output()?)))
    }

    /// The number of questions.
    pub(super) fn questions(&self) -> usize {
        let ids: BTreeSet<&CaseId> = self.cases.iter().map(|case| &case.id).collect();
        ids.len()
    }

    /// The number of questions that the documents do not answer.
    pub(super) fn unanswerable(&self) -> usize {
        let mut seen = BTreeSet::new();
        let firsts = self.cases.iter().filter(|case| seen.insert(&case.id));
        let expected = firsts.filter_map(|case| case.expected.as_ref());
        expected.filter(|expected| !expected.answerable).count()
    }

    /// One case for each question of which any repetition is stored.
    pub(super) fn dataset(&self, name: &str, key: Option<ClusterKey>) -> Result<Dataset<Qa>> {
        let mut seen = BTreeSet::new();
        let firsts = self.cases.iter().filter(|case| seen.insert(&case.id));
        let cases = firsts.map(|case| Case {
            id: case.id.clone(),
            input: case.input.clone(),
            expected: case.expected.clone(),
            metadata: case.metadata.clone(),
            cluster: case.cluster.clone(),
            sequence: None,
            evaluators: Vec::new(),
        });
        let dataset = Dataset::new(name, cases.collect::<Vec<_>>())?;
        Ok(dataset.assertions_apart().clustered(key))
    }

    /// The task that returns the stored answer. Its timings are marked as cached, because this run did not spend the time.
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
            .ok_or_else(|| TaskError::new("the stored run ended before this case"))?;
        for timing in &case.timings {
            if !is_judging(Purpose::of_stage(&timing.stage)) {
                scope.cached_timing(timing.stage.clone(), timing.duration);
            }
        }
        for (name, value) in &case.metrics {
            if !is_judging(Purpose::of_metric(name)) {
                scope.metric(name.clone(), *value);
            }
        }
        for (name, value) in &case.attributes {
            if !is_judging(Purpose::of_attribute(name)) {
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

/// Whether the judge recorded a value. Such values are dropped, because the judge is asked again.
fn is_judging(purpose: Option<Purpose>) -> bool {
    purpose.is_some_and(Purpose::is_judging)
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::time::Duration;

    use evals::Experiment;
    use evals_metrics::{Judgements, Ranking};
    use evals_models::Finish;
    use evals_rag::qa::Reference;

    use super::*;

    /// The stages, metrics and attributes that a judge and others recorded for a stored case.
    async fn judged_again(recorded: &'static [&'static str]) -> (Vec<String>, Vec<String>) {
        let reference = Reference {
            answer: None,
            accepted: Vec::new(),
            answerable: true,
            relevant: Judgements::new(),
            evidence: Vec::new(),
            nuggets: Vec::new(),
        };
        let case = Case::new("q", "text".to_owned()).expecting(reference);
        let task = move |_: Arc<Case<Qa>>, scope: TaskScope| async move {
            for name in recorded {
                scope.timing(*name, Duration::from_millis(1));
                scope.metric(*name, 1.0);
            }
            Ok::<_, TaskError>(Answer {
                text: String::new(),
                refused: false,
                citations: Vec::new(),
                unknown_citations: 0,
                finish: Finish::Stop,
                passages: Vec::new(),
                ranking: Ranking::default(),
                searches: None,
                missing: Vec::new(),
            })
        };
        let first = Experiment::new(Dataset::new("demo", [case]).unwrap(), task);
        let stored = Arc::new(Stored::new(first.run().await.cases));
        let again = Experiment::new(stored.dataset("demo", None).unwrap(), stored.task());
        let report = again.concurrency(NonZeroUsize::MIN).run().await;
        let case = &report.cases[0];
        let stages = case.timings.iter().map(|timing| timing.stage.clone());
        (stages.collect(), case.metrics.keys().cloned().collect())
    }

    #[tokio::test]
    async fn names_that_only_start_like_a_judge_are_kept() {
        let recorded = &[
            "judge",
            "judge refusal",
            "judge input tokens",
            "judgement lookup",
            "judges",
        ];
        let (stages, metrics) = judged_again(recorded).await;
        let kept = ["judge input tokens", "judgement lookup", "judges"];
        assert_eq!(stages, kept);
        assert_eq!(
            metrics,
            ["judge", "judge refusal", "judgement lookup", "judges"]
        );
    }
}
