use std::path::PathBuf;
use std::time::Duration;

use evals_messages::{chain, visible};
use thiserror::Error;

use super::repository::Repository;
use super::transport::TransportError;
use super::verify::Damage;

/// A file that the hub, or its cache, does not give.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HubError {
    /// The hub wants to know who asks. It answers so for repositories that do not exist as well.
    #[error(
        "the hub asks for a token to read {repo}: check the repository's name; if it is private, set `HF_TOKEN` to a \
         token that may read it"
    )]
    Unauthorized {
        /// The repository.
        repo: Repository,
    },
    /// The token does not allow it.
    #[error(
        "the hub refuses access to {repo}: accept its terms on its page, or set `HF_TOKEN` to a token that may read it"
    )]
    Forbidden {
        /// The repository.
        repo: Repository,
    },
    /// There is no such repository.
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
        "no file of {repo} at `{commit}` matches `{glob}`{}; there are {}",
        check(repo, "files"),
        listed(files)
    )]
    NoFileMatches {
        /// The repository.
        repo: Repository,
        /// The commit looked into.
        commit: String,
        /// The glob.
        glob: String,
        /// Files there are, at most the ten largest.
        files: Vec<String>,
    },
    /// A model repository without weights that could be read.
    #[error(
        "{repo} has no weights at `{commit}` (`model.safetensors`, `pytorch_model.bin`, or the shards of either); there are {}",
        listed(files)
    )]
    NoWeights {
        /// The repository.
        repo: Repository,
        /// The commit looked into.
        commit: String,
        /// Files there are, at most the ten largest.
        files: Vec<String>,
    },
    /// The hub listed a file that it does not give.
    #[error("`{url}` is not there although the hub lists it")]
    FileNotFound {
        /// The file's address.
        url: String,
    },
    /// The hub named a commit and has no list of its files.
    #[error("`{url}`, which lists a commit's files, is not there: check `HF_ENDPOINT`")]
    NoListing {
        /// The list's address.
        url: String,
    },
    /// Too many requests, after all tries.
    #[error(
        "the hub limits the rate of requests{}; wait, or set `HF_TOKEN`, which raises the limit",
        asked(*retry_after)
    )]
    RateLimited {
        /// What the server asked to wait, where it said so.
        retry_after: Option<Duration>,
    },
    /// A status that says neither yes nor why not.
    #[error("`{url}` answered with status {status}{}", asked(*retry_after))]
    Status {
        /// What was asked for.
        url: String,
        /// The status.
        status: u16,
        /// What the server asked to wait, where it said so.
        retry_after: Option<Duration>,
    },
    /// No connection to the hub, or to the storage that it sends to.
    #[error("cannot connect to `{server}`")]
    NoConnection {
        /// The server.
        server: String,
        /// Why.
        #[source]
        source: TransportError,
    },
    /// A connection and no answer: it broke, or there was silence.
    #[error("no answer from `{url}`")]
    Unreachable {
        /// What was asked for.
        url: String,
        /// Why.
        #[source]
        source: TransportError,
    },
    /// An answer that is not the hub's protocol.
    #[error("`{url}` gave an answer that is not the hub's: {what}; check `HF_ENDPOINT`")]
    Malformed {
        /// What was asked for.
        url: String,
        /// What is wrong with it.
        what: String,
    },
    /// What arrived is not the file that the hub describes, also when fetched anew.
    #[error("`{file}` of {repo} did not arrive as the hub describes it")]
    Corrupt {
        /// The repository.
        repo: Repository,
        /// The file's path in it.
        file: String,
        /// What is wrong.
        #[source]
        damage: Damage,
    },
    /// A damaged file in the cache that cannot be fetched anew, because the hub is out of reach.
    #[error(
        "`{}` in the hub cache is damaged; delete it, or allow network access (unset `HF_HUB_OFFLINE`) to fetch it anew",
        path.display()
    )]
    DamagedCache {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        #[source]
        damage: Damage,
    },
    /// The cache lacks something, and the hub is out of reach.
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
        /// The cache looked into.
        cache_dir: PathBuf,
        /// What is missing.
        missing: String,
    },
    /// There is no home folder for the cache.
    #[error(
        "there is no folder for the hub cache, because there is no home folder: set `HF_HOME` to a folder of your own"
    )]
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
    /// A glob that is not one.
    #[error(transparent)]
    Glob(#[from] globset::Error),
    /// The settings do not make a client: an address that is none, or a token that no header can hold.
    #[error("cannot set up a client for `{endpoint}`: {what}; check `HF_ENDPOINT` and `HF_TOKEN`")]
    Settings {
        /// The hub's address.
        endpoint: String,
        /// What is wrong.
        what: String,
    },
}

/// Where to correct a value, where that is known.
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

    /// What the server asked to wait.
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

    /// What happened, in one line, for those who know the address already.
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
