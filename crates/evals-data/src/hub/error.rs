//! Why a file cannot be read from the hub or its cache, and warnings about a download that succeeded.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, io};

use evals_messages::{chain, visible};
use serde::Serialize;
use thiserror::Error;

use super::repository::Repository;
use super::verify::Damage;

/// Why a file cannot be read from the hub or its cache.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HubError {
    /// The hub asks for a token. It answers the same for repositories that do not exist.
    #[error(
        "the hub asks for a token to read {repo}: check the repository's name; if it is private, set `HF_TOKEN` to a \
         token that may read it"
    )]
    Unauthorized {
        /// The repository.
        repo: Repository,
    },
    /// The token does not give access.
    #[error(
        "the hub refuses access to {repo}: accept its terms on its page, or set `HF_TOKEN` to a token that may read it"
    )]
    Forbidden {
        /// The repository.
        repo: Repository,
    },
    /// The repository does not exist.
    #[error(
        "the hub has no {} repository `{}`: check the name{}",
        repo.kind,
        repo.id(),
        repo.key("repo").map_or_else(String::new, |key| format!(" (`{key}`)"))
    )]
    RepositoryNotFound {
        /// The repository.
        repo: Repository,
    },
    /// The repository has no such branch, tag or commit.
    #[error("{repo} has no revision `{revision}`{}", check(repo, "revision"))]
    RevisionNotFound {
        /// The repository.
        repo: Repository,
        /// The revision asked for.
        revision: String,
    },
    /// No file of the repository matches a glob.
    #[error(
        "no file of {repo} at `{commit}` matches `{glob}`{}; it has {}",
        check(repo, "files"),
        listed(files)
    )]
    NoFileMatches {
        /// The repository.
        repo: Repository,
        /// The commit.
        commit: String,
        /// The glob.
        glob: String,
        /// Its files, at most the ten largest.
        files: Vec<String>,
    },
    /// The model repository has no weights in a known format.
    #[error(
        "{repo} has no weights at `{commit}` (`model.safetensors`, `pytorch_model.bin`, or the shards of either); it has {}",
        listed(files)
    )]
    NoWeights {
        /// The repository.
        repo: Repository,
        /// The commit.
        commit: String,
        /// Its files, at most the ten largest.
        files: Vec<String>,
    },
    /// A status that means neither success nor a known refusal.
    #[error("{}", answered(url, *status, *retry_after))]
    Status {
        /// The requested address.
        url: String,
        /// The status.
        status: u16,
        /// The pause that the server asked for, if any.
        retry_after: Option<Duration>,
    },
    /// No connection to the hub, or to the storage that it redirects to.
    #[error("cannot connect to `{server}`")]
    NoConnection {
        /// The server.
        server: String,
        /// Why.
        #[source]
        source: TransportError,
    },
    /// The connection broke or fell silent before the answer was complete.
    #[error("no answer from `{url}`")]
    Unreachable {
        /// The requested address.
        url: String,
        /// Why.
        #[source]
        source: TransportError,
    },
    /// The answer does not follow the hub's protocol.
    #[error("`{url}` did not answer like the hub: {what}; check `HF_ENDPOINT`")]
    Malformed {
        /// The requested address.
        url: String,
        /// The defect.
        what: String,
    },
    /// The downloaded bytes are not the file that the hub describes, even after a second download.
    #[error("`{file}` of {repo} did not arrive as the hub describes it")]
    Corrupt {
        /// The repository.
        repo: Repository,
        /// The file's path in it.
        file: String,
        /// The problem.
        #[source]
        damage: Damage,
    },
    /// A file in the cache is damaged and cannot be downloaded again, because the hub is out of reach.
    #[error(
        "`{}` in the hub cache is damaged; delete it, or allow network access (unset `HF_HUB_OFFLINE`) to download it again",
        path.display()
    )]
    DamagedCache {
        /// The file.
        path: PathBuf,
        /// The problem.
        #[source]
        damage: Damage,
    },
    /// The cache lacks files, and the hub is out of reach.
    #[error(
        "{missing} for {repo} at `{revision}` in the hub cache `{}`; allow network access once (unset \
         `HF_HUB_OFFLINE`), or set `HF_HOME` to a cache that has it",
        cache_dir.display()
    )]
    NotCached {
        /// The repository.
        repo: Repository,
        /// The revision asked for.
        revision: String,
        /// The cache.
        cache_dir: PathBuf,
        /// The missing part.
        missing: String,
    },
    /// Without a home folder, the cache has no place.
    #[error("there is no home folder for the hub cache: set `HF_HOME` to a folder of your own")]
    NoCacheFolder,
    /// The cache cannot be read or written.
    #[error("cannot use `{}` in the hub cache", path.display())]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// An invalid glob.
    #[error(transparent)]
    Glob(#[from] globset::Error),
    /// The settings are unusable: the address is invalid, or a header cannot contain the token.
    #[error("cannot set up a client for `{endpoint}`: {what}; check `HF_ENDPOINT` and `HF_TOKEN`")]
    Settings {
        /// The hub's address.
        endpoint: String,
        /// The problem.
        what: String,
    },
}

/// The key of the manifest to check, if the value comes from one.
fn check(repo: &Repository, key: &str) -> String {
    repo.key(key)
        .map_or_else(String::new, |key| format!(": check `{key}`"))
}

fn listed(files: &[String]) -> String {
    let names: Vec<String> = files.iter().map(|file| format!("`{file}`")).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

fn answered(url: &str, status: u16, retry_after: Option<Duration>) -> String {
    let asked = asked(retry_after);
    if status == 429 {
        return format!(
            "the hub limits the rate of requests{asked}; wait, or set `HF_TOKEN`, which raises the limit"
        );
    }
    format!("`{url}` answered with status {status}{asked}")
}

fn asked(pause: Option<Duration>) -> String {
    match pause {
        Some(pause) if !pause.is_zero() => format!(" and asks to wait {} s", pause.as_secs()),
        _ => String::new(),
    }
}

impl HubError {
    pub(super) fn malformed(url: impl Into<String>, what: impl Into<String>) -> Self {
        Self::Malformed {
            url: url.into(),
            what: what.into(),
        }
    }

    /// Makes an error of a failure to read or write `path`; an argument for `map_err`.
    pub(super) fn cache(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Cache {
            path: path.to_owned(),
            source,
        }
    }

    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::NoConnection { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 429 | 500..=599),
            Self::Unreachable { source, .. } => !source.is_final(),
            _ => false,
        }
    }

    /// The pause that the server asked for.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The message with those of its sources, in one line.
    pub(super) fn chain(&self) -> String {
        visible::folded(&chain(self))
    }

    /// The failure in one line, without the address.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::NoConnection { source, .. } => format!("no connection: {source}"),
            Self::Unreachable { source, .. } => format!("no answer: {source}"),
            Self::Status {
                status,
                retry_after,
                ..
            } => format!("status {status}{}", asked(*retry_after)),
            other => other.chain(),
        }
    }
}

/// Why a request got no answer. The message is that of the innermost cause, such as `Connection refused`, because the errors around it
/// only name layers of the client.
#[derive(Debug)]
pub struct TransportError(pub(super) reqwest::Error);

impl TransportError {
    /// Whether the same request would fail again: it could not be built, or its redirect is refused.
    fn is_final(&self) -> bool {
        self.0.is_builder() || self.0.is_redirect()
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut innermost: &dyn std::error::Error = &self.0;
        while let Some(source) = innermost.source() {
            innermost = source;
        }
        fmt::Display::fmt(innermost, formatter)
    }
}

impl std::error::Error for TransportError {}

/// Something that the user should know although the download succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum HubWarning {
    /// The hub was out of reach, so the revision may point to a newer commit than the cached one.
    ServedFromCache {
        /// The repository.
        repo: Repository,
        /// The revision asked for.
        revision: String,
        /// The commit in the cache.
        commit: String,
        /// Why the hub was out of reach.
        reason: String,
    },
    /// A file in the cache was damaged and was downloaded again.
    Refetched {
        /// The file's path in the repository.
        file: String,
        /// The defect.
        reason: String,
    },
    /// Another client filled the cache without storing a list of the commit's files, and their names do not tell whether they are
    /// complete. This is common for a cache that was prepared elsewhere.
    UnlistedCommit {
        /// The repository.
        repo: Repository,
        /// The commit in the cache.
        commit: String,
        /// Files that match.
        files: usize,
    },
    /// Neither the hub nor the cache has a digest for some files, so that their content is unverified.
    Unverified {
        /// The repository.
        repo: Repository,
        /// The commit.
        commit: String,
        /// The number of files.
        files: usize,
        /// The first of them.
        first: String,
    },
}

impl HubWarning {
    /// The warning about files without a known digest; `None` if there are no such files.
    pub(super) fn of_unverified<'f>(
        repo: &Repository,
        commit: &str,
        mut files: impl Iterator<Item = &'f str>,
    ) -> Option<Self> {
        let first = files.next()?.to_owned();
        Some(Self::Unverified {
            repo: repo.clone(),
            commit: commit.to_owned(),
            files: 1 + files.count(),
            first,
        })
    }

    /// Whether this is a detail, rather than something to act on.
    pub fn is_note(&self) -> bool {
        matches!(self, Self::UnlistedCommit { .. })
    }
}

impl std::fmt::Display for HubWarning {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ServedFromCache {
                repo,
                revision,
                commit,
                reason,
            } => write!(
                formatter,
                "the hub is out of reach ({reason}); using {repo} as cached: `{revision}` at {commit}"
            ),
            Self::Refetched { file, reason } => write!(
                formatter,
                "`{file}` was damaged in the cache ({reason}) and was downloaded again"
            ),
            Self::UnlistedCommit {
                repo,
                commit,
                files,
            } => write!(
                formatter,
                "using the cached files of {repo} at {commit} (matching files: {files}); without the hub it is unknown \
                 whether they are complete"
            ),
            Self::Unverified {
                repo,
                commit,
                files,
                first,
            } => {
                let further = match files - 1 {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                write!(
                    formatter,
                    "`{first}`{further} of {repo} at {commit} cannot be verified, because no digest is known; it is used as it is"
                )
            }
        }
    }
}
