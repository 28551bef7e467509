//! Events of a download, for progress bars and logs.

use std::time::Duration;

/// Receives the events of a download, to draw progress or to log.
///
/// Its methods should return at once, because the download waits for them.
pub trait DownloadObserver: Send + Sync {
    /// Called for each event. Does nothing by default.
    fn on_event(&self, event: &DownloadEvent<'_>) {
        let _ = event;
    }
}

/// One step of a download. Files are named by their path in the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DownloadEvent<'a> {
    /// The hub listed the files. Only those that are not in the cache follow as [`Started`](Self::Started).
    Listed {
        /// The repository's id.
        repo: &'a str,
        /// Number of requested files.
        files: usize,
        /// Their bytes.
        bytes: u64,
    },
    /// A file's transfer starts, or starts again after a failure.
    Started {
        /// The file.
        file: &'a str,
        /// Its bytes.
        total: u64,
    },
    /// More bytes of a file arrived.
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
    /// This process waits for another one that downloads the same file.
    Waiting {
        /// The file.
        file: &'a str,
    },
    /// A request failed temporarily, and is retried after a pause.
    Retrying {
        /// The requested address.
        url: &'a str,
        /// The failure.
        reason: &'a str,
        /// The pause.
        delay: Duration,
    },
}

/// An observer that does nothing.
impl DownloadObserver for () {}
