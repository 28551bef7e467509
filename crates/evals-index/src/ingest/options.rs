use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

/// How a build uses the machine. None of it changes what is in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildOptions {
    /// Portions of documents (up to 128 or 1 MiB of text) that are chunked and embedded at the same time. Default: the number of
    /// processors.
    pub concurrency: NonZeroUsize,
    /// Texts in one call of the embedder. Default 64.
    pub embed_batch: NonZeroUsize,
    /// Bytes of rows after which they are committed; about as much stays in memory. Default 64 MiB.
    pub commit_bytes: usize,
    /// Time after which rows are committed, however few: what an interruption of a slow embedder loses. Default 30 s.
    pub commit_interval: Duration,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            concurrency: thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
            embed_batch: NonZeroUsize::new(64).expect("64 is not 0"),
            commit_bytes: 64 << 20,
            commit_interval: Duration::from_secs(30),
        }
    }
}
