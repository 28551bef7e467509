//! Finding a repository's files in the cache, without the hub.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::cache::RepositoryCache;
use super::tree::{GIT_DIGITS, Globs, is_hex, wanted};
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

/// The path of a requested file, and the facts known about its content.
type Known = (String, Expected);

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
                let known = listed.into_iter().map(|file| {
                    let expected = file.expected();
                    (file.path, expected)
                });
                (known.collect(), None)
            }
            None => self.unlisted(&snapshot, &commit)?,
        };
        let without_digest = known
            .iter()
            .filter(|(_, expected)| !expected.has_digest())
            .map(|(path, _)| path.as_str());
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
        let known = present.into_iter().map(|path| {
            let expected = linked_digest(&snapshot.join(&path));
            (path, expected)
        });
        Ok((known.collect(), warning))
    }

    fn file(&self, snapshot: &Path, (path, expected): Known) -> Result<FetchedFile, HubError> {
        let local = snapshot.join(&path);
        if !local.is_file() {
            return Err(self.not_cached(format!("`{path}` is missing")));
        }
        let identity =
            verify(&local, &path, &expected).map_err(|damage| HubError::DamagedCache {
                path: local.clone(),
                damage,
            })?;
        Ok(FetchedFile::new(path, local, identity))
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

/// The first missing shard of an incomplete set.
pub(super) fn missing_shard(files: &[String]) -> Option<String> {
    let mut shards: BTreeMap<(&str, u32, &str), BTreeSet<u32>> = BTreeMap::new();
    for file in files {
        if let Some((stem, number, total, rest)) = shard(file) {
            shards
                .entry((stem, total, rest))
                .or_default()
                .insert(number);
        }
    }
    shards
        .into_iter()
        .find_map(|((stem, total, rest), numbers)| {
            let first = first_number(rest);
            let missing = (first..first + total).find(|number| !numbers.contains(number))?;
            Some(format!("{stem}-{missing:05}-of-{total:05}{rest}"))
        })
}

/// The number of the first shard: 0 for tables, 1 for weights.
fn first_number(rest: &str) -> u32 {
    u32::from(matches!(rest, ".safetensors" | ".bin"))
}

/// Whether a file is a shard.
pub(super) fn is_shard(file: &str) -> bool {
    shard(file).is_some()
}

/// Splits `data/test-00001-of-00003.parquet` into `data/test`, 1, 3 and `.parquet`.
fn shard(file: &str) -> Option<(&str, u32, u32, &str)> {
    let (before, after) = file.rsplit_once("-of-")?;
    let (stem, number) = before.rsplit_once('-')?;
    let total = after.get(..5)?;
    let is_number = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(number) || !is_number(total) {
        return None;
    }
    Some((stem, number.parse().ok()?, total.parse().ok()?, &after[5..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(files: &[&str]) -> Option<String> {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        missing_shard(&files)
    }

    #[test]
    fn a_missing_shard_is_found() {
        assert_eq!(
            shards(&[
                "c/x-00000-of-00002.parquet",
                "c/x-00001-of-00002.parquet",
                "test.jsonl"
            ]),
            None
        );
        assert_eq!(
            shards(&["c/x-00000-of-00003.parquet", "c/x-00002-of-00003.parquet"]).as_deref(),
            Some("c/x-00001-of-00003.parquet")
        );
        assert_eq!(shards(&["guide-of-names.csv"]), None);
        assert_eq!(
            shards(&["model-00001-of-00002.safetensors"]).as_deref(),
            Some("model-00002-of-00002.safetensors")
        );
        assert_eq!(
            shards(&[
                "model-00001-of-00002.safetensors",
                "model-00002-of-00002.safetensors"
            ]),
            None
        );
        assert!(is_shard("c/x-00000-of-00003.parquet") && !is_shard("c/0000.parquet"));
    }
}
