//! The threads that run a model, and the texts that go through them.

mod texts;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};
use thiserror::Error;
use tokio::sync::mpsc::unbounded_channel;

use crate::encoder::Scratch;
use crate::error::LocalError;

pub(crate) use texts::{Computed, Failed, TextFault};

type Job = Box<dyn FnOnce(&mut Scratch) + Send>;

/// The code that ran a batch panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a thread of the model panicked")]
pub(crate) struct Panicked;

/// The results of tasks, and how long the threads took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timed<T> {
    pub(crate) value: T,
    /// From the beginning of the first task to the end of the last. Waiting for tasks of other callers is not included.
    pub(crate) took: Duration,
}

impl<T> Timed<T> {
    /// Adds the time of an earlier step.
    pub(crate) fn after(self, before: Duration) -> Self {
        Self {
            took: before + self.took,
            ..self
        }
    }
}

/// One task's result.
struct Arrival<T> {
    index: usize,
    result: T,
    begun: Instant,
    ended: Instant,
}

/// Threads that each run whole batches. One batch on each core is faster than one batch split over all of them.
#[derive(Debug)]
pub(crate) struct Workers {
    jobs: Sender<Job>,
    // In a pool of one thread, matrix products stay on that thread.
    pools: Vec<ThreadPool>,
    /// Number of truncated texts.
    pub(super) cut: AtomicU64,
}

impl Workers {
    /// Starts this many threads. They end when this is dropped.
    pub(crate) fn start(threads: usize) -> Result<Self, LocalError> {
        let (jobs, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let start = |index| {
            let pool = ThreadPoolBuilder::new()
                .num_threads(1)
                .thread_name(move |_| format!("local-model-{index}"))
                .build()?;
            let queue = Arc::clone(&queue);
            pool.spawn(move || work(&queue));
            Ok(pool)
        };
        let pools = (0..threads).map(start).collect::<Result<_, _>>();
        let pools = pools
            .map_err(|error: rayon::ThreadPoolBuildError| LocalError::Threads(Box::new(error)))?;
        Ok(Self {
            jobs,
            pools,
            cut: AtomicU64::new(0),
        })
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> usize {
        self.pools.len()
    }

    /// Runs `tasks` and returns their results in order. If the caller stops waiting, tasks that have not begun are dropped.
    pub(crate) async fn run<T, F>(&self, tasks: Vec<F>) -> Result<Timed<Vec<T>>, Panicked>
    where
        T: Send + 'static,
        F: FnOnce(&mut Scratch) -> T + Send + 'static,
    {
        let (arrive, mut arrivals) = unbounded_channel();
        let mut ordered: Vec<Option<T>> = tasks.iter().map(|_| None).collect();
        for (index, task) in tasks.into_iter().enumerate() {
            let arrive = arrive.clone();
            let job: Job = Box::new(move |scratch| {
                if !arrive.is_closed() {
                    let begun = Instant::now();
                    let result = task(scratch);
                    // Sending fails after the caller has dropped the receiver, and then the result is not needed.
                    let _ = arrive.send(Arrival {
                        index,
                        result,
                        begun,
                        ended: Instant::now(),
                    });
                }
            });
            self.jobs.send(job).map_err(|_| Panicked)?;
        }
        drop(arrive);
        let mut span: Option<(Instant, Instant)> = None;
        while let Some(arrival) = arrivals.recv().await {
            let (begun, ended) = span.unwrap_or((arrival.begun, arrival.ended));
            span = Some((begun.min(arrival.begun), ended.max(arrival.ended)));
            ordered[arrival.index] = Some(arrival.result);
        }
        Ok(Timed {
            value: ordered.into_iter().collect::<Option<_>>().ok_or(Panicked)?,
            took: span.map_or(Duration::ZERO, |(begun, ended)| ended - begun),
        })
    }
}

fn work(queue: &Mutex<Receiver<Job>>) {
    let mut scratch = Scratch::default();
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else {
            return;
        };
        if catch_unwind(AssertUnwindSafe(|| job(&mut scratch))).is_err() {
            scratch = Scratch::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[tokio::test]
    async fn results_come_in_the_order_of_tasks() {
        let workers = Workers::start(3).unwrap();
        let tasks = (0..50).map(|number| move |_: &mut Scratch| number * number);
        let squares = workers.run(tasks.collect()).await.unwrap();
        assert_eq!(
            squares.value,
            (0..50).map(|number| number * number).collect::<Vec<_>>()
        );
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_threads_survive() {
        let workers = Workers::start(1).unwrap();
        let tasks = vec![|_: &mut Scratch| -> u8 { panic!("for the test") }];
        assert_eq!(workers.run(tasks).await, Err(Panicked));
        let next = workers.run(vec![|_: &mut Scratch| 7]).await.unwrap();
        assert_eq!(next.value, [7]);
    }

    #[tokio::test]
    async fn time_spent_waiting_for_other_callers_is_not_counted() {
        let workers = Workers::start(1).unwrap();
        let (release, released) = channel::<()>();
        let other = move |_: &mut Scratch| {
            released.recv().unwrap();
            Instant::now()
        };
        let (other, own, ()) = tokio::join!(
            workers.run(vec![other]),
            workers.run(vec![|_: &mut Scratch| ()]),
            async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                release.send(()).unwrap();
            }
        );
        let other_ended = other.unwrap().value[0];
        assert!(own.unwrap().took <= other_ended.elapsed());
    }

    #[tokio::test]
    async fn tasks_of_a_caller_that_stopped_waiting_are_not_run() {
        let workers = Workers::start(1).unwrap();
        let (release, released) = channel::<()>();
        let is_run = Arc::new(AtomicBool::new(false));
        let run = Arc::clone(&is_run);
        let abandoned = workers.run(vec![move |_: &mut Scratch| run.store(true, Relaxed)]);
        let (busy, ()) = tokio::join!(
            workers.run(vec![move |_: &mut Scratch| released.recv().unwrap()]),
            async {
                let given_up = tokio::time::timeout(Duration::ZERO, abandoned).await;
                given_up.unwrap_err();
                release.send(()).unwrap();
            }
        );
        busy.unwrap();
        workers.run(vec![|_: &mut Scratch| ()]).await.unwrap();
        assert!(!is_run.load(Relaxed));
    }

    #[tokio::test]
    async fn no_tasks_take_no_time() {
        let workers = Workers::start(1).unwrap();
        let nothing = workers.run(Vec::<fn(&mut Scratch)>::new()).await;
        let (value, took) = (Vec::new(), Duration::ZERO);
        assert_eq!(nothing, Ok(Timed { value, took }));
    }
}
