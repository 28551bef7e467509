//! The environment in which the storage engine makes full use of the machine.

use std::env;
use std::num::NonZeroUsize;
use std::thread;

/// The engine's variable for its number of compute threads.
const CPU_THREADS: &str = "LANCE_CPU_THREADS";

/// The environment variables with which a process makes full use of the machine, except those that are set already.
///
/// By default, the engine keeps two processors free, so that a machine with two computes on one, and concurrent searches wait for each
/// other. The engine reads the variables once, and a running process cannot change its environment safely. A program that wants them
/// therefore starts itself again with them, before it does anything else.
pub fn environment() -> Vec<(&'static str, String)> {
    let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    [(CPU_THREADS, threads.to_string())]
        .into_iter()
        .filter(|(name, _)| env::var_os(name).is_none())
        .collect()
}
