use std::env;
use std::num::NonZeroUsize;
use std::thread;

/// How many threads the engine computes with.
const CPU_THREADS: &str = "LANCE_CPU_THREADS";

/// The environment variables that a process should be started with to make full use of the machine, without those that are set.
///
/// The engine reads them once, and leaves two processors out of its computations by default, so that a machine with two computes
/// with one: searches that run at the same time then wait for each other. A running process cannot change its environment safely.
/// A program that wants them starts itself again with them, before it does anything else.
pub fn environment() -> Vec<(&'static str, String)> {
    let threads = thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    [(CPU_THREADS, threads.to_string())]
        .into_iter()
        .filter(|(name, _)| env::var_os(name).is_none())
        .collect()
}
