//! Why a file cannot be read from the hub or its cache.

use std::path::PathBuf;
use std::time::Duration;

use evals_messages::{chain, visible};
use thiserror::Error;

use super::repository::Repository;
use super::transport::TransportError;
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
        repo.kind_name(),
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
    /// The hub lists a file, but does not have it.
    #[error("the hub lists `{url}` but does not have it")]
    FileNotFound {
        /// The file's address.
        url: String,
    },
    /// The hub named a commit, but has no list of its files.
    #[error("the hub has no list of files at `{url}`: check `HF_ENDPOINT`")]
    NoListing {
        /// The list's address.
        url: String,
    },
    /// The hub still limits the rate of requests after all attempts.
    #[error(
        "the hub limits the rate of requests{}; wait, or set `HF_TOKEN`, which raises the limit",
        asked(*retry_after)
    )]
    RateLimited {
        /// The pause that the server asked for, if any.
        retry_after: Option<Duration>,
    },
    /// A status that means neither success nor a known refusal.
    #[error("`{url}` answered with status {status}{}", asked(*retry_after))]
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
        source: std::io::Error,
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

fn asked(pause: Option<Duration>) -> String {
    match pause {
        Some(pause) if !pause.is_zero() => format!(" and asks to wait {} s", pause.as_secs()),
        _ => String::new(),
    }
}

impl HubError {
    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::NoConnection { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 500..=599),
            Self::Unreachable { source, .. } => !source.is_final(),
            _ => false,
        }
    }

    /// The pause that the server asked for.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after } | Self::Status { retry_after, .. } => *retry_after,
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
