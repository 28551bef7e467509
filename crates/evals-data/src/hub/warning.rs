//! Warnings about a download that succeeded.

use serde::Serialize;

use super::Repository;

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
