//! The experiment: runs a task over a dataset.

mod attempt;
mod audience;
mod completion;
mod grading;
mod hooks;
mod protocol;
mod resume;
mod retry;
mod roster;
mod timeout;
mod worker;

use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::report::{analyses, settle};
use crate::{
    Case, CaseReport, Dataset, Domain, Event, Journal, Lifecycle, Observer, Report, StopSignal,
    TaskError, TaskScope,
};
use audience::Audience;
use completion::{Completion, Finished};
use hooks::Factory;
use protocol::RunProtocol;
pub use retry::Retry;
pub use timeout::CaseTimeout;

const DEFAULT_CONCURRENCY: NonZeroUsize = NonZeroUsize::new(4).expect("4 is not 0");

/// A task and the dataset that it runs over.
///
/// The task is a closure from a case to a future; a live index, a recorded run and a scripted fake are all just tasks.
pub struct Experiment<D: Domain, T> {
    dataset: Arc<Dataset<D>>,
    task: T,
    name: Option<String>,
    concurrency: NonZeroUsize,
    repeat: NonZeroU32,
    cancellation: CancellationToken,
    stop: StopSignal,
    case_timeout: Option<CaseTimeout>,
    max_failures: Option<NonZeroUsize>,
    retry_task: Option<Retry>,
    retry_evaluators: Option<Retry>,
    lifecycle: Option<Arc<Factory<D>>>,
    journal: Option<Arc<dyn Journal<D>>>,
    resumed: Vec<CaseReport<D>>,
    elapsed_before: Duration,
    observers: Vec<Arc<dyn Observer<D>>>,
    metadata: serde_json::Map<String, serde_json::Value>,
}

impl<D: Domain, T> Experiment<D, T> {
    /// Pairs a dataset with a task.
    pub fn new<F>(dataset: impl Into<Arc<Dataset<D>>>, task: T) -> Self
    where
        T: Fn(Arc<Case<D>>, TaskScope) -> F,
        F: Future<Output = Result<D::Output, TaskError>>,
    {
        Self {
            dataset: dataset.into(),
            task,
            name: None,
            concurrency: DEFAULT_CONCURRENCY,
            repeat: NonZeroU32::MIN,
            cancellation: CancellationToken::new(),
            stop: StopSignal::new(),
            case_timeout: None,
            max_failures: None,
            retry_task: None,
            retry_evaluators: None,
            lifecycle: None,
            journal: None,
            resumed: Vec::new(),
            elapsed_before: Duration::ZERO,
            observers: Vec::new(),
            metadata: serde_json::Map::new(),
        }
    }

    /// Names the experiment; by default it has the name of its dataset.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Limits how many cases run at the same time; 4 by default.
    #[must_use]
    pub fn concurrency(mut self, concurrency: NonZeroUsize) -> Self {
        self.concurrency = concurrency;
        self
    }

    /// Runs every case this often; once by default.
    #[must_use]
    pub fn repeat(mut self, repeat: NonZeroU32) -> Self {
        self.repeat = repeat;
        self
    }

    /// Ends the run early when the token is cancelled: no further case starts, and running cases are dropped at their next
    /// await. The report holds the finished cases and is marked as interrupted.
    #[must_use]
    pub fn cancellation(mut self, cancellation: CancellationToken) -> Self {
        self.cancellation = cancellation;
        self
    }

    /// Starts no further case once the signal is set; running cases finish and count. The report holds the reason in
    /// [`stopped`](Report::stopped). A failure of class [`Terminal`](crate::FailureClass::Terminal), of a task or of an
    /// evaluator, sets the signal with its message. Its case counts as not run, and a later run tries it again.
    #[must_use]
    pub fn stop(mut self, stop: StopSignal) -> Self {
        self.stop = stop;
        self
    }

    /// Limits how long each case may take, its task and its evaluators together; without a limit by default.
    ///
    /// When the time is up, the runner drops the task or the evaluators that still run. They fail with class
    /// [`Transient`](crate::FailureClass::Transient) and a message that says which step ran out of time. Finished results
    /// stay: the output, and the outcomes of the evaluators that had returned.
    #[must_use]
    pub fn case_timeout(mut self, timeout: CaseTimeout) -> Self {
        self.case_timeout = Some(timeout);
        self
    }

    /// Stops the run once this many cases have failed; without a limit by default.
    ///
    /// A case counts when its task, its setup or its [`prepare_context`](Lifecycle::prepare_context) failed, each repetition on
    /// its own. Failed evaluators and assertions do not count, and neither do cases taken over from an earlier session. Running
    /// cases finish and count, so the report may hold more failures than the limit.
    #[must_use]
    pub fn max_failures(mut self, most: NonZeroUsize) -> Self {
        self.max_failures = Some(most);
        self
    }

    /// Runs a failed task again; by default a task runs once. Once the run is stopped, the runner retries nothing: a case that
    /// needs another attempt counts as not run.
    #[must_use]
    pub fn retry_task(mut self, retry: Retry) -> Self {
        self.retry_task = Some(retry);
        self
    }

    /// Runs a failed evaluator again, each on its own; by default an evaluator runs once per case. The runner keeps the task's
    /// output in the meantime.
    #[must_use]
    pub fn retry_evaluators(mut self, retry: Retry) -> Self {
        self.retry_evaluators = Some(retry);
        self
    }

    /// Runs hooks around every repetition of a case; the closure makes new ones for each.
    #[must_use]
    pub fn lifecycle<L: Lifecycle<D> + 'static>(
        mut self,
        make: impl Fn(&Arc<Case<D>>) -> L + Send + Sync + 'static,
    ) -> Self {
        self.lifecycle = Some(Arc::new(move |case| Box::new(make(case))));
        self
    }

    /// Appends every case to a journal before it counts as done. If that fails, the case counts as not run and the run stops
    /// with the journal's error as the reason.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn Journal<D>>) -> Self {
        self.journal = Some(journal);
        self
    }

    /// Takes over cases that an earlier session finished. They do not run again, and neither observers nor the journal get
    /// them. They appear in the report unchanged, input and durations included. Repetitions count one by one; those that are
    /// not part of the run are ignored.
    ///
    /// Apart from timings, the report equals that of an uninterrupted run.
    #[must_use]
    pub fn resume(mut self, cases: Vec<CaseReport<D>>) -> Self {
        self.resumed = cases;
        self
    }

    /// Adds the wall time of earlier sessions to the report's, which makes rates cover all sessions; zero by default.
    #[must_use]
    pub fn elapsed_before(mut self, elapsed: Duration) -> Self {
        self.elapsed_before = elapsed;
        self
    }

    /// Adds an observer of the run's progress. Observers are called in the order in which they were added.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer<D>>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Keeps a fact with the report, such as a setting or a seed.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Runs every case and judges every output.
    ///
    /// Needs a tokio runtime, on which it spawns at most as many tasks as the concurrency limit. Cases start in dataset
    /// order, those of a [sequence](Case::sequence) after one another, and are reported in dataset order. Of all failures of tasks, evaluators and observers, only a terminal one ends
    /// the run. Dropping the future ends it without a report.
    pub async fn run<F>(self) -> Report<D>
    where
        T: Fn(Arc<Case<D>>, TaskScope) -> F + Send + Sync + 'static,
        F: Future<Output = Result<D::Output, TaskError>> + Send + 'static,
    {
        let started = Instant::now();
        let name = self.name.unwrap_or_else(|| self.dataset.name().to_owned());
        let resumed = resume::place(self.resumed, &self.dataset, self.repeat);
        let evaluators = roster::shared(self.dataset.evaluators());
        let queue = Arc::new(worker::Queue {
            sequences: worker::sequences(&self.dataset),
            dataset: self.dataset,
            task: self.task,
            repeat: self.repeat,
            protocol: RunProtocol {
                timeout: self.case_timeout,
                retry_task: self.retry_task,
                retry_evaluators: self.retry_evaluators,
                lifecycle: self.lifecycle,
                evaluators,
                stop: self.stop.clone(),
            },
            completion: Completion {
                audience: Audience::new(self.observers),
                stop: self.stop,
                journal: self.journal,
                max_failures: self.max_failures,
                failed: AtomicUsize::new(0),
            },
            done: worker::done(&resumed),
            next: AtomicUsize::new(0),
        });
        let workers = self.concurrency.get();
        let cases = run_cases(&queue, &name, resumed, workers, &self.cancellation).await;
        let not_run = queue.total() - cases.len();
        let Completion { audience, stop, .. } = &queue.completion;
        audience.report(Event::Finished { not_run });

        let identities = queue.protocol.evaluators.iter();
        let dataset = queue.dataset.name();
        let mut report = Report {
            interrupted: not_run > 0,
            stopped: stop.reason().filter(|_| not_run > 0),
            duration: self.elapsed_before + started.elapsed(),
            metadata: self.metadata,
            pools_assertions: queue.dataset.pools_assertions(),
            cluster: queue.dataset.cluster().cloned(),
            observer_failures: audience.failures(),
            evaluators: identities.map(|it| it.identity.clone()).collect(),
            cases,
            ..Report::running(name, dataset, self.repeat.get(), not_run)
        };
        let evaluators = queue.dataset.report_evaluators();
        analyses::add(&mut report, evaluators, &self.cancellation).await;
        report
    }
}

/// Lets this many workers run the cases that are not `resumed`. The result holds all finished cases in dataset order.
async fn run_cases<D, T, F>(
    queue: &Arc<worker::Queue<D, T>>,
    name: &str,
    resumed: Vec<Finished<D>>,
    concurrency: usize,
    cancellation: &CancellationToken,
) -> Vec<CaseReport<D>>
where
    D: Domain,
    T: Fn(Arc<Case<D>>, TaskScope) -> F + Send + Sync + 'static,
    F: Future<Output = Result<D::Output, TaskError>> + Send + 'static,
{
    let total = queue.total();
    queue.completion.audience.report(Event::Started {
        name,
        total,
        resumed: resumed.len(),
    });
    let mut workers = JoinSet::new();
    let ahead = total - resumed.len();
    for _ in 0..ahead.min(concurrency) {
        workers.spawn(worker::work(Arc::clone(queue), cancellation.clone()));
    }
    let mut cases = gather(workers, resumed).await;
    settle(&mut cases);
    cases
}

/// Waits for all workers and puts their cases into dataset order, together with the resumed ones.
async fn gather<D: Domain>(
    mut workers: JoinSet<Vec<Finished<D>>>,
    mut finished: Vec<Finished<D>>,
) -> Vec<CaseReport<D>> {
    while let Some(joined) = workers.join_next().await {
        match joined {
            Ok(mut cases) => finished.append(&mut cases),
            // Panics of tasks, evaluators and observers are caught where they run. Any other panic is a bug, here or in the
            // `Clone` of a payload.
            Err(error) if error.is_panic() => panic::resume_unwind(error.into_panic()),
            // The runtime is shutting down; the worker's cases count as not run.
            Err(_) => {}
        }
    }
    finished.sort_unstable_by_key(|case| case.position);
    finished.into_iter().map(|case| case.report).collect()
}

impl<D: Domain, T> fmt::Debug for Experiment<D, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Experiment")
            .field("name", &self.name)
            .field("dataset", &self.dataset.name())
            .field("concurrency", &self.concurrency)
            .field("repeat", &self.repeat)
            .field("metadata", &self.metadata)
            .finish_non_exhaustive()
    }
}
