//! Finding a repository's files in the cache, without the hub.

use std::path::Path;

use super::cache::RepositoryCache;
use super::globs::Globs;
use super::shards::{is_shard, missing_shard};
use super::tree::{GIT_DIGITS, is_hex, wanted};
use super::verify::{Expected, verify};
use super::{FetchedFile, HubError, HubFiles, HubWarning, Repository, files_below};

/// A request that the cache alone answers.
#[derive(Debug)]
pub(super) struct Offline<'a> {
    pub(super) cache_dir: &'a Path,
    pub(super) repo: &'a Repository,
    pub(super) revision: &'a str,
    pub(super) globs: &'a Globs,
}

/// A requested file, and the facts known about its content.
struct Known {
    path: String,
    expected: Expected,
}

impl Offline<'_> {
    /// The files, verified as far as possible without the hub: against the stored list of the commit's files if there is one, else
    /// against the digests in the targets of the cache's links.
    ///
    /// This reads every file once, so it belongs on a thread that may block.
    pub(super) fn find(&self) -> Result<HubFiles, HubError> {
        let cache = RepositoryCache::new(self.cache_dir, self.repo);
        let commit = cache
            .commit(self.revision)
            .ok_or_else(|| self.not_cached("nothing is cached".to_owned()))?;
        let snapshot = cache.snapshot(&commit);
        let (known, warning): (Vec<Known>, _) = match cache.listing(&commit) {
            Some(listing) => {
                let listed = wanted(self.repo, &commit, self.globs, listing)?;
                let known = listed.into_iter().map(|file| Known {
                    expected: file.expected(),
                    path: file.path,
                });
                (known.collect(), None)
            }
            None => self.unlisted(&snapshot, &commit)?,
        };
        let without_digest = known
            .iter()
            .filter(|file| !file.expected.has_digest())
            .map(|file| file.path.as_str());
        let unverified = HubWarning::of_unverified(self.repo, &commit, without_digest);
        let files = known
            .into_iter()
            .map(|file| self.file(&snapshot, file))
            .collect::<Result<_, _>>()?;
        Ok(HubFiles {
            folder: snapshot,
            commit,
            files,
            warnings: warning.into_iter().chain(unverified).collect(),
        })
    }

    /// Whether the cache has the files, intact or not.
    pub(super) fn is_there(&self) -> bool {
        let cache = RepositoryCache::new(self.cache_dir, self.repo);
        let Some(commit) = cache.commit(self.revision) else {
            return false;
        };
        let snapshot = cache.snapshot(&commit);
        let Some(listing) = cache.listing(&commit) else {
            return files_below(&snapshot)
                .is_ok_and(|files| self.globs.first_without_match(&files).is_none());
        };
        wanted(self.repo, &commit, self.globs, listing)
            .is_ok_and(|files| files.iter().all(|file| snapshot.join(&file.path).is_file()))
    }

    /// The cached files of a commit without a stored list.
    fn unlisted(
        &self,
        snapshot: &Path,
        commit: &str,
    ) -> Result<(Vec<Known>, Option<HubWarning>), HubError> {
        let mut present =
            files_below(snapshot).map_err(|(path, source)| HubError::Cache { path, source })?;
        if let Some(glob) = self.globs.first_without_match(&present) {
            return Err(self.not_cached(format!("no file matches `{glob}`")));
        }
        present.retain(|path| self.globs.matches(path));
        if let Some(shard) = missing_shard(&present) {
            return Err(self.not_cached(format!("`{shard}` is missing")));
        }
        let is_accounted = |path: &String| is_shard(path) || self.globs.names(path);
        let warning = (!present.iter().all(is_accounted)).then(|| HubWarning::UnlistedCommit {
            repo: self.repo.clone(),
            commit: commit.to_owned(),
            files: present.len(),
        });
        let known = present.into_iter().map(|path| Known {
            expected: linked_digest(&snapshot.join(&path)),
            path,
        });
        Ok((known.collect(), warning))
    }

    fn file(&self, snapshot: &Path, file: Known) -> Result<FetchedFile, HubError> {
        let local = snapshot.join(&file.path);
        if !local.is_file() {
            return Err(self.not_cached(format!("`{}` is missing", file.path)));
        }
        let identity = verify(&local, &file.path, &file.expected).map_err(|damage| {
            HubError::DamagedCache {
                path: local.clone(),
                damage,
            }
        })?;
        Ok(FetchedFile::new(file.path, local, identity))
    }

    fn not_cached(&self, missing: String) -> HubError {
        HubError::NotCached {
            repo: self.repo.clone(),
            revision: self.revision.to_owned(),
            cache_dir: self.cache_dir.to_owned(),
            missing,
        }
    }
}

/// The digest in the target of a file's link: the blob of a large file is named by its SHA-256, of a small one by git's digest.
fn linked_digest(file: &Path) -> Expected {
    let target = std::fs::read_link(file).unwrap_or_default();
    let name = target.file_name().and_then(|name| name.to_str());
    let name = name.unwrap_or_default();
    Expected {
        size: None,
        sha256: is_hex(name, 64).then(|| name.to_owned()),
        git: is_hex(name, GIT_DIGITS).then(|| name.to_owned()),
    }
}
