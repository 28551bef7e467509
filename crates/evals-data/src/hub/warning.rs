use serde::Serialize;

use super::Repository;

/// Something the user should know although all went well in the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[non_exhaustive]
pub enum HubWarning {
    /// The hub was out of reach, so that the revision may have moved on since its files were cached.
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
    /// A file in the cache was damaged and has been fetched anew.
    Refetched {
        /// The file's path in the repository.
        file: String,
        /// What was wrong with it.
        reason: String,
    },
    /// Another client filled the cache and left no list of the commit's files, and their names do not tell whether there
    /// are more. Ordinary for a cache that was prepared elsewhere.
    UnlistedCommit {
        /// The repository.
        repo: Repository,
        /// The commit in the cache.
        commit: String,
        /// Files that match.
        files: usize,
    },
    /// Files whose content nothing vouches for: neither the hub nor the cache states a digest.
    Unverified {
        /// The repository.
        repo: Repository,
        /// The commit.
        commit: String,
        /// How many.
        files: usize,
        /// The first of them.
        first: String,
    },
}

impl HubWarning {
    /// What to say of files without a known digest; nothing where there are none.
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

    /// Whether this is a detail for those who want to know, rather than something to act on.
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
                "`{file}` was damaged in the cache ({reason}) and has been fetched anew"
            ),
            Self::UnlistedCommit {
                repo,
                commit,
                files,
            } => write!(
                formatter,
                "using what the cache holds of {repo} at {commit} (files that match: {files}); whether that is all of \
                 them is known once the hub has been asked"
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
                    "`{first}`{further} of {repo} at {commit} cannot be verified: no digest is known"
                )
            }
        }
    }
}
