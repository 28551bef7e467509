//! A few processes of one command, and the requests that they share.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use super::fault::{WorkerError, WorkerFault};
use super::gate::RequestGate;
use super::health::Health;
use super::worker::{OpenRequest, Worker};
use super::{Protocol, WorkerCommand};

/// How long a process may take to end after its stdin was closed.
const PATIENCE: Duration = Duration::from_secs(2);

/// How a [`WorkerPool`] runs its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkerOptions {
    /// The most processes at the same time; 1 by default.
    pub processes: NonZeroUsize,
    /// The most requests that one process has at the same time; 1 by default. With more, a process may reply in any order. Other
    /// requests wait.
    pub pipeline: NonZeroUsize,
    /// How long a request may take once it is sent; 300 s by default. The start of its process counts, unless the first line that
    /// the process writes is `{"ready": true}`: then the start may take as long, and the request as long again.
    pub timeout: Duration,
    /// How many failures in a row, over all processes, end the pool; 5 by default. A reply starts the count anew.
    pub failures: NonZeroUsize,
    /// The most bytes of one line that a process writes; 32 MiB by default.
    pub line_limit: usize,
}

/// A reply and its times.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedReply {
    /// The reply.
    pub reply: Value,
    /// The process that gave it: an id that no other process has, in whatever run.
    pub process: String,
    /// How long the request waited until its process wrote `{"ready": true}`. Zero if it had done so before, or never does.
    pub starting: Duration,
    /// How long the process had the request, without `starting`. A wait for a free process or at the gate is not part of it.
    pub taken: Duration,
}

impl Default for WorkerOptions {
    fn default() -> Self {
        Self {
            processes: NonZeroUsize::MIN,
            pipeline: NonZeroUsize::MIN,
            timeout: Duration::from_mins(5),
            failures: NonZeroUsize::new(5).expect("5 is not 0"),
            line_limit: 32 << 20,
        }
    }
}

/// Processes of one command.
///
/// A process starts with the first request that no idle process can take. Dropping the pool kills all processes and their
/// children; [`close`](Self::close) lets them end first.
///
/// ```
/// # #[cfg(unix)]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use evals_targets::process::{Protocol, WorkerCommand, WorkerOptions, WorkerPool};
/// use serde_json::{Value, json};
///
/// #[derive(Debug)]
/// struct Echo;
///
/// impl Protocol for Echo {
///     fn is_reply(&self, line: &Value) -> bool {
///         line.get("question").is_some()
///     }
///
///     fn expected(&self) -> &'static str {
///         "the request itself"
///     }
/// }
///
/// // `cat` sends every request back, and with it the `id`.
/// let pool = WorkerPool::new(WorkerCommand::new("cat"), WorkerOptions::default(), Echo);
/// let request = json!({"question": "Is anybody there?"});
/// let reply = pool.exchange("q1", request.as_object().expect("an object")).await?;
/// assert_eq!(reply, json!({"id": "q1", "question": "Is anybody there?"}));
/// pool.close().await;
/// # Ok(())
/// # }
/// # #[cfg(not(unix))]
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct WorkerPool {
    command: WorkerCommand,
    options: WorkerOptions,
    protocol: Arc<dyn Protocol>,
    health: Arc<Health>,
    /// A permit for each request that the processes may have.
    room: Semaphore,
    gate: RequestGate,
    workers: Mutex<Vec<Worker>>,
}

impl WorkerPool {
    /// A pool without processes. A process of a [guarded](Protocol::is_guarded) protocol has one request at a time.
    pub fn new(
        command: WorkerCommand,
        mut options: WorkerOptions,
        protocol: impl Protocol + 'static,
    ) -> Self {
        if protocol.is_guarded() {
            options.pipeline = NonZeroUsize::MIN;
        }
        let room = options.processes.saturating_mul(options.pipeline).get();
        Self {
            health: Arc::new(Health::new(options.failures.get(), protocol.is_guarded())),
            room: Semaphore::new(room.min(Semaphore::MAX_PERMITS)),
            gate: RequestGate::default(),
            workers: Mutex::new(Vec::new()),
            command,
            options,
            protocol: Arc::new(protocol),
        }
    }

    /// Sets the gate that requests pass, in place of one of the pool's own.
    #[must_use]
    pub fn behind(self, gate: RequestGate) -> Self {
        Self { gate, ..self }
    }

    /// The gate that requests pass.
    pub fn gate(&self) -> &RequestGate {
        &self.gate
    }

    /// The command.
    pub fn command(&self) -> &WorkerCommand {
        &self.command
    }

    /// How the command is run.
    pub fn options(&self) -> WorkerOptions {
        self.options
    }

    /// Sends a request and waits for its reply: the line that has its `id`, or that has none while the process has no other
    /// request. The `id` comes first in the line; a process that saw it before is sent `ID~2`.
    ///
    /// A process that ends with status 0 after a reply has done its part; its request goes to the next process. So does the request of
    /// one that ends or writes something else before the command ever replied, up to the limit of failures. Dropping the future
    /// gives the request up, and kills the process unless it replied to another request in the meantime. Once the
    /// [`gate`](Self::gate) is closed, a request that is not sent yet waits until it is dropped.
    pub async fn exchange(
        &self,
        id: &str,
        request: &Map<String, Value>,
    ) -> Result<Value, WorkerError> {
        Ok(self.timed_exchange(id, request, None).await?.reply)
    }

    /// [`exchange`](Self::exchange), with how long the process took and how long the request waited for its start. With the id of a
    /// process, no other one is asked, and the request fails if it has ended.
    pub async fn timed_exchange(
        &self,
        id: &str,
        request: &Map<String, Value>,
        only: Option<&str>,
    ) -> Result<TimedReply, WorkerError> {
        let _permit = self.room.acquire().await;
        let limit = self.options.timeout;
        // Each round meets another process that is about to end, or a new one.
        let mut rounds = self.options.processes.get() + 1;
        loop {
            let _in_flight = self.gate.pass().await;
            let (process, mut asked) = self.assign(id, request, only)?;
            let Some(replied) = asked.replied(limit).await else {
                return Err(asked.timed_out(limit));
            };
            match replied {
                Err(error) if error.fault().is_used_up() && rounds > 0 => rounds -= 1,
                Err(error) if self.health.starts_again(error.fault()) => {}
                Err(error) => return Err(error),
                Ok(reply) => {
                    let starting = asked.starting();
                    let taken = asked.elapsed().saturating_sub(starting);
                    return Ok(TimedReply {
                        reply,
                        process,
                        starting,
                        taken,
                    });
                }
            }
        }
    }

    /// Closes the stdin of all processes, waits 2 s for their end, and kills those that are left, with their children.
    pub async fn close(&self) {
        let workers = std::mem::take(&mut *self.workers());
        join_all(workers.into_iter().map(|worker| worker.close(PATIENCE))).await;
    }

    /// Sends the request to the `only` process that it is for, if there is one, or to an idle process, else to a new one, else to the one
    /// with the fewest requests. Returns the id of the process, too.
    fn assign(
        &self,
        id: &str,
        request: &Map<String, Value>,
        only: Option<&str>,
    ) -> Result<(String, OpenRequest), WorkerError> {
        if let Some(error) = self.health.given_up() {
            return Err(error);
        }
        let mut workers = self.workers();
        loop {
            if let Some(error) = remove_ended(&mut workers) {
                return Err(error);
            }
            let fitting = workers
                .iter()
                .filter(|worker| only.is_none_or(|only| worker.id() == only));
            let loads = fitting.map(|worker| (worker.load(), worker));
            let least = loads.min_by_key(|(load, _)| *load);
            let may_start = only.is_none() && workers.len() < self.options.processes.get();
            if let Some((load, worker)) = least
                && (load == Some(0) || !may_start)
            {
                match worker.ask(id, request) {
                    Some(asked) => return Ok((worker.id().to_owned(), asked)),
                    // It ended in this moment.
                    None => continue,
                }
            }
            if only.is_some() {
                let fault = WorkerFault::Forgotten;
                return Err(WorkerError::new(self.command.line(), fault, Vec::new()));
            }
            workers.push(self.start()?);
        }
    }

    fn start(&self) -> Result<Worker, WorkerError> {
        let Self {
            command,
            options,
            protocol,
            health,
            ..
        } = self;
        let started = Worker::start(command, Arc::clone(protocol), options.line_limit, health);
        started.map_err(|error| health.failed(error))
    }

    fn workers(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes processes that take no further request. Returns the fault of one that nobody has heard of.
fn remove_ended(workers: &mut Vec<Worker>) -> Option<WorkerError> {
    let mut owed = None;
    workers.retain(|worker| {
        if worker.load().is_some() {
            return true;
        }
        if owed.is_some() {
            return true;
        }
        owed = worker.take_owed();
        false
    });
    owed
}

/// The pools of a run, one for each command and its options. Clones share them.
#[derive(Clone, Debug)]
pub struct WorkerPools {
    processes: NonZeroUsize,
    gate: RequestGate,
    pools: Arc<Mutex<Pools>>,
}

type Pools = BTreeMap<(WorkerCommand, WorkerOptions), Arc<WorkerPool>>;

/// Four processes for each command, as a run has four cases at the same time by default.
impl Default for WorkerPools {
    fn default() -> Self {
        Self::new(NonZeroUsize::new(4).expect("4 is not 0"))
    }
}

impl WorkerPools {
    /// Pools of up to this many processes for each command: the run's concurrency.
    pub fn new(processes: NonZeroUsize) -> Self {
        Self {
            processes,
            gate: RequestGate::default(),
            pools: Arc::default(),
        }
    }

    /// The pool of a command, which is new unless somebody asked for it before. The number of processes in `options` is replaced
    /// by that of the run. `protocol` counts for a new pool.
    pub fn pool(
        &self,
        command: WorkerCommand,
        options: WorkerOptions,
        protocol: impl Protocol + 'static,
    ) -> Arc<WorkerPool> {
        let options = WorkerOptions {
            processes: self.processes,
            ..options
        };
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let pool = pools.entry((command.clone(), options)).or_insert_with(|| {
            let pool = WorkerPool::new(command, options, protocol);
            Arc::new(pool.behind(self.gate.clone()))
        });
        Arc::clone(pool)
    }

    /// The gate that the requests of all pools pass.
    pub fn gate(&self) -> &RequestGate {
        &self.gate
    }

    /// The command lines of all pools, of which none may have started yet.
    pub fn commands(&self) -> BTreeSet<String> {
        let pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        let commands = pools.keys().map(|(command, _)| command.line().to_owned());
        commands.collect()
    }

    /// Closes all pools, as [`WorkerPool::close`] does.
    pub async fn close(&self) {
        let pools = self.all();
        join_all(pools.iter().map(|pool| pool.close())).await;
    }

    fn all(&self) -> Vec<Arc<WorkerPool>> {
        let pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        pools.values().cloned().collect()
    }
}
