//! One pool for each command, shared by all who use the command.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::join_all;

use super::{Protocol, RequestGate, WorkerCommand, WorkerOptions, WorkerPool};

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
