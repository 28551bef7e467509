use std::time::Duration;

/// Is told how a download goes, to draw progress or to log.
///
/// Called from the task that downloads, so it should return at once.
pub trait DownloadObserver: Send + Sync {
    /// Something happened; nothing is done about it by default.
    fn on_event(&self, event: &DownloadEvent<'_>) {
        let _ = event;
    }
}

/// One step of a download. Files are named by their path in the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DownloadEvent<'a> {
    /// The hub said what there is; only the part that is not in the cache follows as [`Started`](Self::Started).
    Listed {
        /// The repository's id.
        repo: &'a str,
        /// Files that are wanted.
        files: usize,
        /// Their bytes.
        bytes: u64,
    },
    /// A file's transfer begins, or begins anew after a failure.
    Started {
        /// The file.
        file: &'a str,
        /// Its bytes.
        total: u64,
    },
    /// More of a file arrived.
    Advanced {
        /// The file.
        file: &'a str,
        /// Bytes so far.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// A file is in the cache and verified.
    Finished {
        /// The file.
        file: &'a str,
    },
    /// Another process is fetching the same file; this one waits for it.
    Waiting {
        /// The file.
        file: &'a str,
    },
    /// A request failed in a way that may pass, and is made again after a pause.
    Retrying {
        /// What was asked for.
        url: &'a str,
        /// What happened.
        reason: &'a str,
        /// The pause.
        delay: Duration,
    },
}

/// Watches nothing.
impl DownloadObserver for () {}
