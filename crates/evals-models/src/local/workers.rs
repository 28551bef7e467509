use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};
use thiserror::Error;
use tokio::sync::mpsc::unbounded_channel;

use super::encoder::Scratch;
use super::error::LocalError;

type Job = Box<dyn FnOnce(&mut Scratch) + Send>;

/// A batch was lost because the code that ran it panicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a thread of the model panicked")]
pub(super) struct Panicked;

/// Threads that each run whole batches: several batches side by side use the cores better than one batch over all of them.
#[derive(Debug)]
pub(super) struct Workers {
    jobs: Sender<Job>,
    // A pool of one thread makes matrix products stay on that thread.
    pools: Vec<ThreadPool>,
}

impl Workers {
    /// Starts as many threads; they end when this is dropped.
    pub(super) fn start(threads: usize) -> Result<Self, LocalError> {
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
        Ok(Self { jobs, pools })
    }

    /// How many jobs run side by side.
    pub(super) fn threads(&self) -> usize {
        self.pools.len()
    }

    /// Runs `tasks` and gives their results in order. Tasks that were not begun when the caller goes away are dropped.
    pub(super) async fn run<T, F>(&self, tasks: Vec<F>) -> Result<Vec<T>, Panicked>
    where
        T: Send + 'static,
        F: FnOnce(&mut Scratch) -> T + Send + 'static,
    {
        let (results, mut arrivals) = unbounded_channel();
        let mut ordered: Vec<Option<T>> = tasks.iter().map(|_| None).collect();
        for (index, task) in tasks.into_iter().enumerate() {
            let results = results.clone();
            let job: Job = Box::new(move |scratch| {
                if !results.is_closed() {
                    // Nobody waits any more when sending fails.
                    let _ = results.send((index, task(scratch)));
                }
            });
            self.jobs.send(job).map_err(|_| Panicked)?;
        }
        drop(results);
        while let Some((index, result)) = arrivals.recv().await {
            ordered[index] = Some(result);
        }
        ordered.into_iter().collect::<Option<_>>().ok_or(Panicked)
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
    use super::*;

    #[tokio::test]
    async fn results_come_in_the_order_of_tasks() {
        let workers = Workers::start(3).unwrap();
        let tasks = (0..50).map(|number| move |_: &mut Scratch| number * number);
        let squares = workers.run(tasks.collect()).await.unwrap();
        assert_eq!(
            squares,
            (0..50).map(|number| number * number).collect::<Vec<_>>()
        );
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_threads_go_on() {
        let workers = Workers::start(1).unwrap();
        let tasks = vec![|_: &mut Scratch| -> u8 { panic!("for the test") }];
        assert_eq!(workers.run(tasks).await, Err(Panicked));
        assert_eq!(workers.run(vec![|_: &mut Scratch| 7]).await, Ok(vec![7]));
    }
}
