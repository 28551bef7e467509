//! Files of dataset and model repositories on the Hugging Face hub, through the cache that all its clients share.
//!
//! hf-hub knows where the cache keeps what, which is the same for Python's clients. Everything that is sent is ours:
//! hf-hub checks neither the status nor the length of what it stores, so that an error page can end up in the cache for good;
//! it does not honour `Retry-After`; and a second process gives up on a lock after a few seconds. Looking for files by glob
//! while offline is ours too, because hf-hub finds single files only.

mod answer;
mod cache;
mod download;
mod error;
mod folder;
mod globs;
mod listing;
mod model;
mod observer;
mod offline;
mod online;
mod partial;
mod repository;
mod retry;
mod settings;
mod shards;
mod transport;
mod tree;
mod verify;
mod warning;

use std::path::{Path, PathBuf};

pub use error::HubError;
pub use model::ModelFiles;
pub use observer::{DownloadEvent, DownloadObserver};
pub use repository::Repository;
pub use settings::{HubSettings, RetryPolicy, Token};
pub use transport::TransportError;
pub use verify::Damage;
pub use warning::HubWarning;

pub(crate) use folder::files_below;
pub(crate) use globs::Globs;
pub(crate) use verify::{Expected, Identity, sha256, verify};

use cache::RepositoryCache;
use download::Download;
use offline::Offline;
use online::Online;
use tree::{ListedFile, is_inside, wanted};

/// Gives local, verified files for a repository, a revision and globs.
#[derive(Debug, Clone)]
pub struct Hub {
    settings: HubSettings,
}

/// Files of one commit, verified and on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubFiles {
    /// The commit that the revision pointed to.
    pub commit: String,
    /// The files, ordered by path.
    pub files: Vec<FetchedFile>,
    /// What went otherwise than asked for.
    pub warnings: Vec<HubWarning>,
}

/// A verified file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedFile {
    /// Its path in the repository.
    pub path: String,
    /// Where it is on this machine.
    pub local: PathBuf,
    /// Its bytes.
    pub size: u64,
    /// Its digest, in hexadecimal.
    pub sha256: String,
}

/// What a hub answers to nothing but a greeting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Greeting {
    /// It is there, and takes the token if there is one.
    Reached,
    /// It does not know the token.
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

    /// Whether the hub is there and takes the token, by one request that ends within 5 s. Fails where nobody answers.
    pub async fn greet(&self) -> Result<Greeting, HubError> {
        Online::connect(&self.settings)?.greet().await
    }

    /// Brings the files of `repo` that match `globs` into the cache and verifies them: size, SHA-256 or else git's digest,
    /// and parquet's own marks. What is in the cache and whole is not fetched again; what is damaged there is. Files for
    /// which no digest is known are [told](HubWarning::Unverified).
    ///
    /// Offline, the cache alone is read. It is read as well where the hub does not say which commit and files are wanted
    /// because it is out of reach; a [warning](HubWarning::ServedFromCache) tells so. Once they are known, a file that
    /// cannot be had is an error.
    pub async fn fetch(
        &self,
        repo: &Repository,
        revision: &str,
        globs: &[String],
        observer: &dyn DownloadObserver,
    ) -> Result<HubFiles, HubError> {
        let globs = Globs::new(globs.iter().map(String::as_str))?;
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
            // It names a file of the cache as well.
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
                // First, so that what is fetched of a commit is never taken for all of it.
                cache.keep_listing(&commit, &listed)?;
                let download = Download {
                    online: &online,
                    cache: &cache,
                    repo,
                    commit: &commit,
                    observer,
                };
                let files = download.all(&wanted).await?;
                // Last, so that a revision never leads to a half-fetched commit.
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

    /// Whether the cache holds the files, whole or not, without the network.
    pub fn is_cached(&self, repo: &Repository, revision: &str, globs: &[String]) -> bool {
        Globs::new(globs.iter().map(String::as_str))
            .is_ok_and(|globs| self.is_there(repo, revision, &globs))
    }

    /// Where the cache is.
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

/// Runs what reads whole files on a thread that may block.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // A task is cancelled only when its runtime ends, and then nobody waits for it any more.
            Err(_) => std::future::pending().await,
        },
    }
}
