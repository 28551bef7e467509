//! Runs the cases of a dataset. Commands differ in the dataset, the task and the evaluators; how cases run is the same for all of them.

use std::mem;
use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use evals::{
    Case, CaseReport, CaseTimeout, Dataset, Domain, Experiment, Journal, Observer, Report, Retry,
    StopSignal, TaskError, TaskScope,
};
use evals_settings::Resolved;
use evals_terminal::Printer;
use evals_terminal::progress::CaseBar;
use serde_json::Value;

use crate::batches;
use crate::interruption::Interruption;
use crate::resumption::Opened;

/// How cases run: how many at once, how often, and what ends the run early.
pub(crate) struct Execution<'e> {
    pub(crate) printer: &'e Printer,
    pub(crate) resolved: &'e Resolved,
    pub(crate) interruption: &'e Interruption,
    pub(crate) stop: StopSignal,
    pub(crate) concurrency: NonZeroUsize,
    pub(crate) repeat: NonZeroU32,
    pub(crate) max_failures: Option<NonZeroUsize>,
    /// How a failed task is repeated.
    pub(crate) retry_task: Option<Retry>,
    /// How a failed evaluator is repeated.
    pub(crate) retry_evaluators: Option<Retry>,
}

/// The cases with their evaluators, and the task that they give to the system under test.
pub(crate) struct Work<D: Domain, T> {
    pub(crate) name: String,
    pub(crate) dataset: Dataset<D>,
    pub(crate) task: T,
    /// Entries of the report's metadata.
    pub(crate) metadata: Vec<(&'static str, Value)>,
    /// `None` if a case may take any time.
    pub(crate) timeout: Option<CaseTimeout>,
    /// What the progress bar says, such as `answering`.
    pub(crate) doing: String,
}

/// The report of the cases that ran.
pub(crate) struct Ran<D: Domain> {
    pub(crate) report: Report<D>,
    /// Whether as many cases failed as `--max-failures` allows.
    pub(crate) too_many_failed: bool,
}

impl Execution<'_> {
    /// Runs every case, without a journal: an interrupted run searches again, or reads recorded replies.
    pub(crate) async fn measure<D, T, F>(&self, work: Work<D, T>) -> Ran<D>
    where
        D: Domain,
        T: Fn(Arc<Case<D>>, TaskScope) -> F + Send + Sync + 'static,
        F: Future<Output = Result<D::Output, TaskError>> + Send + 'static,
    {
        let limit = FailureLimit::new::<D>(self.max_failures, &[]);
        let bar = CaseBar::new(self.printer, &work.doing);
        let timeout = work.timeout.clone();
        let mut experiment = self.experiment(work).concurrency(self.concurrency);
        if let Some(timeout) = timeout {
            experiment = experiment.case_timeout(timeout);
        }
        run(experiment, bar, limit).await
    }

    /// Runs the cases that are not finished yet, and records each of them in the journal of the run.
    pub(crate) async fn resume<D, T, F>(&self, work: Work<D, T>, opened: &mut Opened<D>) -> Ran<D>
    where
        D: Domain,
        T: Fn(Arc<Case<D>>, TaskScope) -> F + Send + Sync + 'static,
        F: Future<Output = Result<D::Output, TaskError>> + Send + 'static,
    {
        let finished = mem::take(&mut opened.finished);
        let limit = FailureLimit::new(self.max_failures, &finished);
        let waits_for_batches = self.resolved.settings.batch.enabled;
        let bar = CaseBar::of_batches(self.printer, &work.doing, waits_for_batches);
        let cases = work.dataset.cases().len() * self.repeat.get() as usize;
        let concurrency = batches::concurrency(self.resolved, self.concurrency, cases);
        let timeout = work.timeout.clone();
        let mut experiment = self
            .experiment(work)
            .concurrency(concurrency)
            .elapsed_before(opened.elapsed)
            .resume(finished)
            .journal(Arc::clone(&opened.journal) as Arc<dyn Journal<D>>);
        if let Some(timeout) = timeout {
            experiment = experiment.case_timeout(batches::case_timeout(self.resolved, timeout));
        }
        run(experiment, bar, limit).await
    }

    fn experiment<D, T, F>(&self, work: Work<D, T>) -> Experiment<D, T>
    where
        D: Domain,
        T: Fn(Arc<Case<D>>, TaskScope) -> F,
        F: Future<Output = Result<D::Output, TaskError>>,
    {
        let mut experiment = Experiment::new(work.dataset, work.task)
            .name(work.name)
            .repeat(self.repeat)
            .cancellation(self.interruption.abort_token())
            .stop(self.stop.clone());
        for (key, value) in work.metadata {
            experiment = experiment.metadata(key, value);
        }
        if let Some(retry) = self.retry_task.clone() {
            experiment = experiment.retry_task(retry);
        }
        if let Some(retry) = self.retry_evaluators.clone() {
            experiment = experiment.retry_evaluators(retry);
        }
        experiment
    }
}

/// The number of failed cases that ends a run, as `--max-failures` sets it.
#[derive(Debug, Clone, Copy)]
struct FailureLimit {
    most: Option<NonZeroUsize>,
    /// Failures of earlier sessions, which do not count.
    before: usize,
}

impl FailureLimit {
    /// The limit of an experiment that resumes with these cases.
    fn new<D: Domain>(most: Option<NonZeroUsize>, resumed: &[CaseReport<D>]) -> Self {
        let before = failed(resumed);
        Self { most, before }
    }

    /// Whether these are the cases of an experiment that reached its limit.
    fn is_reached<D: Domain>(self, cases: &[CaseReport<D>]) -> bool {
        let failures = failed(cases).saturating_sub(self.before);
        self.most.is_some_and(|most| failures >= most.get())
    }
}

fn failed<D: Domain>(cases: &[CaseReport<D>]) -> usize {
    let failed = cases.iter().filter(|case| case.result.failure().is_some());
    failed.count()
}

async fn run<D, T, F>(experiment: Experiment<D, T>, bar: CaseBar, limit: FailureLimit) -> Ran<D>
where
    D: Domain,
    T: Fn(Arc<Case<D>>, TaskScope) -> F + Send + Sync + 'static,
    F: Future<Output = Result<D::Output, TaskError>> + Send + 'static,
{
    let bar = Arc::new(bar);
    let mut experiment = experiment.observer(Arc::clone(&bar) as Arc<dyn Observer<D>>);
    if let Some(most) = limit.most {
        experiment = experiment.max_failures(most);
    }
    let report = experiment.run().await;
    bar.clear();
    let too_many_failed = limit.is_reached(&report.cases);
    Ran {
        report,
        too_many_failed,
    }
}
