//! Files of dataset and model repositories on the Hugging Face hub, through the cache that all its clients share.
//!
//! All requests are our own, and not those of the crate hf-hub: it checks neither the status nor the length of a download, so that an
//! error page can stay in the cache for good; it does not honour `Retry-After`; its second process gives up waiting for a lock after a
//! few seconds; and offline it finds single files only, none by a glob.

mod cache;
mod download;
mod error;
mod model;
mod offline;
mod online;
mod repository;
mod settings;
mod tree;
mod verify;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use error::{HubError, HubWarning, TransportError};
pub(crate) use model::files_below;
pub use repository::Repository;
pub use settings::{HubSettings, RetryPolicy, Token};
pub(crate) use tree::Globs;
pub use verify::Damage;
pub(crate) use verify::{Expected, Identity, sha256, verify};

use cache::RepositoryCache;
use download::Download;
use offline::Offline;
use online::Online;
use tree::{ListedFile, is_inside, wanted};

/// A hub and its cache, which turn a repository, a revision and globs into verified local files.
#[derive(Debug, Clone)]
pub struct Hub {
    settings: HubSettings,
}

/// Files of one commit, verified and on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubFiles {
    /// The commit's folder in the cache, laid out as the repository is.
    pub folder: PathBuf,
    /// The commit that the revision pointed to.
    pub commit: String,
    /// The files, ordered by path.
    pub files: Vec<FetchedFile>,
    /// Warnings about the download.
    pub warnings: Vec<HubWarning>,
}

/// A verified file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedFile {
    /// Its path in the repository.
    pub path: String,
    /// Its path on disk.
    pub local: PathBuf,
    /// Its bytes.
    pub size: u64,
    /// Its digest, in hexadecimal.
    pub sha256: String,
}

impl FetchedFile {
    fn new(path: String, local: PathBuf, identity: Identity) -> Self {
        Self {
            path,
            local,
            size: identity.size,
            sha256: identity.sha256,
        }
    }
}

/// The result of [`Hub::greet`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Greeting {
    /// The hub answers, and accepts the token if there is one.
    Reached,
    /// The hub refuses the token.
    TokenRefused,
}

impl Hub {
    /// A hub; nothing is contacted before [`fetch`](Self::fetch) or [`greet`](Self::greet).
    pub fn new(settings: HubSettings) -> Self {
        Self { settings }
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &HubSettings {
        &self.settings
    }

    /// Asks whether the hub is within reach and accepts the token, by one request of at most 5 s. Fails if nobody answers.
    pub async fn greet(&self) -> Result<Greeting, HubError> {
        Online::connect(&self.settings)?.greet().await
    }

    /// Downloads the files of `repo` that match `globs` into the cache and verifies them: size, SHA-256 or else git's digest, and
    /// parquet's magic bytes. Files that are intact in the cache are not downloaded again; damaged ones are. Files without a known
    /// digest give a [warning](HubWarning::Unverified).
    ///
    /// Offline, only the cache is read. If the hub is out of reach before it has named the commit and its files, the cache is read as
    /// well, with a [warning](HubWarning::ServedFromCache). After that, a file that cannot be downloaded is an error.
    pub async fn fetch(
        &self,
        repo: &Repository,
        revision: &str,
        globs: &[String],
        observer: &dyn DownloadObserver,
    ) -> Result<HubFiles, HubError> {
        let globs = Globs::new(globs)?;
        self.fetch_matching(repo, revision, globs, observer).await
    }

    async fn fetch_matching(
        &self,
        repo: &Repository,
        revision: &str,
        globs: Globs,
        observer: &dyn DownloadObserver,
    ) -> Result<HubFiles, HubError> {
        if !is_inside(revision) {
            // The revision is also part of a path in the cache.
            return Err(HubError::RevisionNotFound {
                repo: repo.clone(),
                revision: revision.to_owned(),
            });
        }
        if self.settings.offline {
            return self.find_offline(repo, revision, globs).await;
        }
        let cache_dir = self.cache_dir()?;
        let online = Online::connect(&self.settings)?;
        let is_cached = self.is_there(repo, revision, &globs);
        match listed(&online, repo, revision, is_cached, observer).await {
            Ok((commit, listed)) => {
                let cache = RepositoryCache::new(cache_dir, repo);
                let wanted = wanted(repo, &commit, &globs, listed.clone())?;
                // Before the files, so that a part of a commit is never mistaken for all of it.
                cache.keep_listing(&commit, &listed)?;
                let download = Download {
                    online: &online,
                    cache: &cache,
                    repo,
                    commit: &commit,
                    observer,
                };
                let files = download.all(&wanted).await?;
                // After the files, so that a revision never leads to a half-fetched commit.
                cache.remember(revision, &commit)?;
                Ok(files)
            }
            Err(error) if error.is_transient() => {
                let Ok(mut cached) = self.find_offline(repo, revision, globs).await else {
                    return Err(error);
                };
                cached.warnings.push(HubWarning::ServedFromCache {
                    repo: repo.clone(),
                    revision: revision.to_owned(),
                    commit: cached.commit.clone(),
                    reason: error.chain(),
                });
                Ok(cached)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the cache has the files, intact or not. Does not use the network.
    pub fn is_cached(&self, repo: &Repository, revision: &str, globs: &[String]) -> bool {
        Globs::new(globs).is_ok_and(|globs| self.is_there(repo, revision, &globs))
    }

    /// The folder of the cache.
    fn cache_dir(&self) -> Result<&Path, HubError> {
        let cache_dir = self.settings.cache_dir.as_deref();
        cache_dir.ok_or(HubError::NoCacheFolder)
    }

    fn is_there(&self, repo: &Repository, revision: &str, globs: &Globs) -> bool {
        let Ok(cache_dir) = self.cache_dir() else {
            return false;
        };
        let offline = Offline {
            cache_dir,
            repo,
            revision,
            globs,
        };
        is_inside(revision) && offline.is_there()
    }

    async fn find_offline(
        &self,
        repo: &Repository,
        revision: &str,
        globs: Globs,
    ) -> Result<HubFiles, HubError> {
        let cache_dir = self.cache_dir()?.to_owned();
        let (repo, revision) = (repo.clone(), revision.to_owned());
        blocking(move || {
            let offline = Offline {
                cache_dir: &cache_dir,
                repo: &repo,
                revision: &revision,
                globs: &globs,
            };
            offline.find()
        })
        .await
    }
}

/// The commit that a revision points to, and its files.
async fn listed(
    online: &Online<'_>,
    repo: &Repository,
    revision: &str,
    is_cached: bool,
    observer: &dyn DownloadObserver,
) -> Result<(String, Vec<ListedFile>), HubError> {
    let commit = online.commit(repo, revision, is_cached, observer).await?;
    let listed = online.list(repo, &commit, observer).await?;
    Ok((commit, listed))
}

/// The paths and sizes on one page of a list of files.
pub(crate) fn listed_files(body: &[u8]) -> Result<Vec<(String, u64)>, String> {
    let files = tree::read_page(body)?.into_iter();
    Ok(files.map(|file| (file.path, file.size)).collect())
}

/// Runs work that reads whole files on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime cancels tasks only when it shuts down, and then no caller needs the result.
            Err(_) => std::future::pending().await,
        },
    }
}

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
