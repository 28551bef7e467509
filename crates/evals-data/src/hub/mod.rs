//! Files of dataset repositories on the Hugging Face hub, through the cache that all its clients share.
//!
//! Which part is whose:
//!
//! * hf-hub resolves a revision to its commit.
//! * The tree is read here, because hf-hub looks for a large file's SHA-256 under another name than the tree answer has,
//!   and without it a download cannot be verified.
//! * Files are transferred here, by a plain GET of `/resolve/`. hf-hub checks neither the status nor the length of what
//!   it stores, so that an error page can end up in the cache for good; it does not honour `Retry-After`; a second
//!   process gives up after ten seconds; and files in xet storage bypass mirrors, proxies and timeouts.
//! * The cache is written and read in hf-hub's layout, which is Python's as well. Looking for files by glob while offline
//!   is done here, because hf-hub finds single files only.

mod cache;
mod download;
mod error;
mod globs;
mod observer;
mod online;
mod retry;
mod settings;
mod tree;
mod verify;

use std::path::PathBuf;

use futures::{StreamExt, TryStreamExt, stream};
use serde::Serialize;

pub use error::HubError;
pub use observer::{DownloadEvent, DownloadObserver};
pub use settings::{HubSettings, RetryPolicy, Token};
pub use verify::Damage;

pub(crate) use cache::files_below;
pub(crate) use globs::Globs;
pub(crate) use verify::{Expected, Identity, sha256, verify};

use cache::{RepositoryCache, find_offline};
use download::Download;
use online::Online;
use tree::ListedFile;

/// Files fetched at once.
const CONCURRENT_FILES: usize = 4;

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

/// Something the user should know although all went well in the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum HubWarning {
    /// The hub was out of reach, so that the revision may have moved on since its files were cached.
    ServedFromCache {
        /// The repository.
        repo: String,
        /// The revision asked for.
        revision: String,
        /// The commit in the cache.
        commit: String,
        /// Why the hub was out of reach.
        reason: String,
    },
    /// A file in the cache was damaged and has been fetched anew.
    Refetched {
        /// The file's path in the repository.
        file: String,
        /// What was wrong with it.
        reason: String,
    },
}

impl std::fmt::Display for HubWarning {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ServedFromCache {
                repo,
                revision,
                commit,
                reason,
            } => {
                write!(
                    formatter,
                    "the hub is out of reach ({reason}); using `{repo}` as cached: `{revision}` at {commit}"
                )
            }
            Self::Refetched { file, reason } => {
                write!(
                    formatter,
                    "`{file}` was damaged in the cache ({reason}) and has been fetched anew"
                )
            }
        }
    }
}

impl Hub {
    /// A hub; nothing is contacted before [`fetch`](Self::fetch).
    pub fn new(settings: HubSettings) -> Self {
        Self { settings }
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &HubSettings {
        &self.settings
    }

    /// Brings the files of `repo` that match `globs` into the cache and verifies them: size, SHA-256 where the hub states
    /// it, and parquet's own marks. What is in the cache and whole is not fetched again; what is damaged there is.
    ///
    /// Offline, or when the hub is out of reach and the cache holds the files, the cache alone is read; a
    /// [warning](HubWarning::ServedFromCache) tells the latter.
    pub async fn fetch(
        &self,
        repo: &str,
        revision: &str,
        globs: &[String],
        observer: &dyn DownloadObserver,
    ) -> Result<HubFiles, HubError> {
        let globs = Globs::new(globs.iter().map(String::as_str))?;
        if self.settings.offline {
            return find_offline(&self.settings.cache_dir, repo, revision, &globs);
        }
        match self.fetch_online(repo, revision, &globs, observer).await {
            Err(error) if error.is_transient() => {
                let Ok(mut cached) = find_offline(&self.settings.cache_dir, repo, revision, &globs)
                else {
                    return Err(error);
                };
                cached.warnings.push(HubWarning::ServedFromCache {
                    repo: repo.to_owned(),
                    revision: revision.to_owned(),
                    commit: cached.commit.clone(),
                    reason: error.chain(),
                });
                Ok(cached)
            }
            settled => settled,
        }
    }

    /// Whether the cache holds the files, whole or not, without the network.
    pub fn is_cached(&self, repo: &str, revision: &str, globs: &[String]) -> bool {
        let cache = RepositoryCache::new(&self.settings.cache_dir, repo);
        let Ok(globs) = Globs::new(globs.iter().map(String::as_str)) else {
            return false;
        };
        let files = cache
            .commit(revision)
            .map(|commit| files_below(&cache.snapshot(&commit)));
        matches!(files, Some(Ok(files)) if globs.first_without_match(&files).is_none())
    }

    async fn fetch_online(
        &self,
        repo: &str,
        revision: &str,
        globs: &Globs,
        observer: &dyn DownloadObserver,
    ) -> Result<HubFiles, HubError> {
        let online = Online::connect(&self.settings)?;
        let cache = RepositoryCache::new(&self.settings.cache_dir, repo);
        let commit = online.commit(repo, revision, observer).await?;
        let wanted = wanted(
            repo,
            &commit,
            globs,
            online.list(repo, &commit, observer).await?,
        )?;
        let bytes = wanted.iter().map(|file| file.size).sum();
        observer.on_event(&DownloadEvent::Listed {
            repo,
            files: wanted.len(),
            bytes,
        });
        let download = Download {
            online: &online,
            cache: &cache,
            repo,
            commit: &commit,
            observer,
        };
        let files: Vec<_> = wanted.iter().map(|file| download.file(file)).collect();
        let fetched: Vec<(FetchedFile, Option<HubWarning>)> = stream::iter(files)
            .buffered(CONCURRENT_FILES)
            .try_collect()
            .await?;
        // Last, so that a revision never leads to a half-fetched commit.
        cache.remember(revision, &commit)?;
        let (files, warnings): (Vec<_>, Vec<_>) = fetched.into_iter().unzip();
        Ok(HubFiles {
            commit,
            files,
            warnings: warnings.into_iter().flatten().collect(),
        })
    }
}

/// The listed files that match, ordered by path; each glob has to match at least one.
fn wanted(
    repo: &str,
    commit: &str,
    globs: &Globs,
    mut listed: Vec<ListedFile>,
) -> Result<Vec<ListedFile>, HubError> {
    listed.sort_by(|left, right| left.path.cmp(&right.path));
    let paths: Vec<&str> = listed.iter().map(|file| file.path.as_str()).collect();
    if let Some(glob) = globs.first_without_match(&paths) {
        return Err(HubError::NoFileMatches {
            repo: repo.to_owned(),
            commit: commit.to_owned(),
            glob: glob.to_owned(),
            files: paths.iter().take(10).map(|&path| path.to_owned()).collect(),
        });
    }
    listed.retain(|file| globs.matches(&file.path));
    Ok(listed)
}
