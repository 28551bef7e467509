//! Bounded concurrency: a fixed number of workers take the next case from one counter.
//!
//! The queue is a number, so memory does not grow with the number of remaining cases. Workers are spawned tasks rather than
//! branches of one stream: this way cases run on all threads of the runtime. If more cases run at once than there are
//! threads, the wall time of a case includes its waits for a thread. Tasks therefore time their stages themselves.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::coop;
use tokio_util::sync::CancellationToken;

use super::attempt::Attempt;
use super::completion::{Completion, Finished};
use super::protocol::RunProtocol;
use crate::{Case, CaseReport, Dataset, Domain, Event, TaskError, TaskScope};

/// The queue of cases, which all workers share.
pub(super) struct Queue<D: Domain, T> {
    pub(super) dataset: Arc<Dataset<D>>,
    pub(super) task: T,
    pub(super) repeat: NonZeroU32,
    pub(super) protocol: RunProtocol<D>,
    pub(super) completion: Completion<D>,
    /// Whether an earlier session finished the case at each position. Positions past the end are unfinished.
    pub(super) done: Vec<bool>,
    /// The cases that run one after the other, by their number; `None` if each runs for itself.
    pub(super) sequences: Option<Vec<Vec<usize>>>,
    pub(super) next: AtomicUsize,
}

/// Whether an earlier session finished the case at each position.
pub(super) fn done<D: Domain>(resumed: &[Finished<D>]) -> Vec<bool> {
    let last = resumed.iter().map(|finished| finished.position).max();
    let mut done = vec![false; last.map_or(0, |last| last + 1)];
    for finished in resumed {
        done[finished.position] = true;
    }
    done
}

/// The cases of each sequence by their number, in the order in which sequences begin; a case without one is a sequence by itself. `None` if
/// all are.
pub(super) fn sequences<D: Domain>(dataset: &Dataset<D>) -> Option<Vec<Vec<usize>>> {
    let cases = dataset.cases();
    if cases.iter().all(|case| case.sequence.is_none()) {
        return None;
    }
    let mut sequences: Vec<Vec<usize>> = Vec::new();
    let mut places = BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        let new = sequences.len();
        let place = case.sequence.as_ref();
        let place = place.map_or(new, |name| *places.entry(name).or_insert(new));
        if place == new {
            sequences.push(Vec::new());
        }
        sequences[place].push(number);
    }
    Some(sequences)
}

impl<D: Domain, T> Queue<D, T> {
    pub(super) fn total(&self) -> usize {
        self.dataset
            .len()
            .saturating_mul(self.repeat.get() as usize)
    }

    /// Hands out every unfinished position once, in order, until the run stops: each alone, or those of a sequence together.
    fn claim(&self) -> Option<Vec<usize>> {
        loop {
            if self.completion.stop.is_set() {
                return None;
            }
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            let mut positions = match &self.sequences {
                None if next < self.total() => vec![next],
                None => return None,
                Some(sequences) => {
                    let repeats = self.repeat.get() as usize;
                    let cases = sequences.get(next / repeats)?.iter();
                    cases.map(|case| case * repeats + next % repeats).collect()
                }
            };
            positions.retain(|position| !self.done.get(*position).copied().unwrap_or(false));
            if !positions.is_empty() {
                return Some(positions);
            }
        }
    }

    async fn attempt<F>(
        &self,
        position: usize,
        cancelled: Pin<&mut impl Future<Output = ()>>,
    ) -> Option<CaseReport<D>>
    where
        T: Fn(Arc<Case<D>>, TaskScope) -> F + Sync,
        F: Future<Output = Result<D::Output, TaskError>> + Send,
    {
        let repeats = self.repeat.get() as usize;
        let case = &self.dataset.cases()[position / repeats];
        let repeat = u32::try_from(position % repeats + 1)
            .expect("at most the number of repetitions, which is a `u32`");
        let audience = &self.completion.audience;
        audience.report(Event::CaseStarted { case, repeat });
        let attempt = Attempt {
            task: &self.task,
            case,
            repeat,
            protocol: &self.protocol,
        };
        attempt.run(cancelled).await
    }
}

/// Runs cases until none are left, or the run is stopped or cancelled.
pub(super) async fn work<D, T, F>(
    queue: Arc<Queue<D, T>>,
    cancellation: CancellationToken,
) -> Vec<Finished<D>>
where
    D: Domain,
    T: Fn(Arc<Case<D>>, TaskScope) -> F + Send + Sync,
    F: Future<Output = Result<D::Output, TaskError>> + Send,
{
    let mut finished = Vec::new();
    let mut cancelled = pin!(cancellation.cancelled());
    while !cancellation.is_cancelled()
        && let Some(positions) = queue.claim()
    {
        for position in positions {
            // Without this, cases that never wait would block the thread for everything else, cancellation included.
            coop::consume_budget().await;
            if cancellation.is_cancelled() || queue.completion.stop.is_set() {
                break;
            }
            if let Some(report) = queue.attempt(position, cancelled.as_mut()).await {
                finished.extend(queue.completion.complete(position, report).await);
            }
        }
    }
    finished
}
