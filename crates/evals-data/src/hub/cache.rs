//! The hub cache on disk, in the layout that all official clients share:
//!
//! ```text
//! datasets--<owner>--<name>/refs/<revision>              the commit a revision pointed to
//! datasets--<owner>--<name>/snapshots/<commit>/<path>    a relative link into blobs, or the file itself
//! datasets--<owner>--<name>/blobs/<etag>                 content; the etag is the SHA-256 of a large file
//! .locks/datasets--<owner>--<name>/<etag>.lock           held while a blob is written
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::HubError;
use super::globs::Globs;
use super::verify::{Expected, verify};
use super::{FetchedFile, HubFiles};

/// One repository's part of the cache.
#[derive(Debug, Clone)]
pub(super) struct RepositoryCache {
    root: PathBuf,
    folder: String,
}

impl RepositoryCache {
    pub(super) fn new(root: &Path, repo: &str) -> Self {
        Self {
            root: root.to_owned(),
            folder: format!("datasets--{}", repo.replace('/', "--")),
        }
    }

    fn folder(&self) -> PathBuf {
        self.root.join(&self.folder)
    }

    pub(super) fn blob(&self, etag: &str) -> PathBuf {
        self.folder().join("blobs").join(etag)
    }

    pub(super) fn lock(&self, etag: &str) -> PathBuf {
        self.root
            .join(".locks")
            .join(&self.folder)
            .join(format!("{etag}.lock"))
    }

    pub(super) fn snapshot(&self, commit: &str) -> PathBuf {
        self.folder().join("snapshots").join(commit)
    }

    fn reference(&self, revision: &str) -> PathBuf {
        self.folder().join("refs").join(revision)
    }

    /// The commit that `revision` pointed to when it was last fetched.
    pub(super) fn commit(&self, revision: &str) -> Option<String> {
        if is_commit(revision) {
            return Some(revision.to_owned());
        }
        let commit = std::fs::read_to_string(self.reference(revision)).ok()?;
        Some(commit.trim().to_owned())
    }

    /// Remembers what `revision` points to. Written only where it changes, so that a read-only cache stays usable.
    pub(super) fn remember(&self, revision: &str, commit: &str) -> Result<(), HubError> {
        if self.commit(revision).as_deref() == Some(commit) {
            return Ok(());
        }
        let path = self.reference(revision);
        create_parent(&path)?;
        std::fs::write(&path, commit).map_err(|source| HubError::Cache { path, source })
    }

    /// Makes `snapshots/<commit>/<file>` lead to the blob.
    pub(super) fn link(&self, commit: &str, file: &str, etag: &str) -> Result<PathBuf, HubError> {
        let path = self.snapshot(commit).join(file);
        create_parent(&path)?;
        let failed = |source| HubError::Cache {
            path: path.clone(),
            source,
        };
        remove(&path).map_err(failed)?;
        // From the link's folder up to the repository's: one step for each folder of `file`, and `snapshots/<commit>`.
        let steps = Path::new(file).components().count() + 1;
        let target = std::iter::repeat_n("..", steps)
            .collect::<PathBuf>()
            .join("blobs")
            .join(etag);
        place(&target, &self.blob(etag), &path).map_err(failed)?;
        Ok(path)
    }

    /// Removes a damaged file and the blob that it leads to.
    pub(super) fn discard(&self, commit: &str, file: &str, etag: &str) -> Result<(), HubError> {
        for path in [self.snapshot(commit).join(file), self.blob(etag)] {
            remove(&path).map_err(|source| HubError::Cache { path, source })?;
        }
        Ok(())
    }
}

/// Finds a dataset's files in the cache alone, and verifies what can be verified without the hub.
pub(super) fn find_offline(
    root: &Path,
    repo: &str,
    revision: &str,
    globs: &Globs,
) -> Result<HubFiles, HubError> {
    let cache = RepositoryCache::new(root, repo);
    let not_cached = |missing: String| HubError::NotCached {
        repo: repo.to_owned(),
        revision: revision.to_owned(),
        cache_dir: root.to_owned(),
        missing,
    };
    let commit = cache
        .commit(revision)
        .ok_or_else(|| not_cached("there is nothing".to_owned()))?;
    let snapshot = cache.snapshot(&commit);
    let present = files_below(&snapshot).map_err(|source| HubError::Cache {
        path: snapshot.clone(),
        source,
    })?;
    if let Some(glob) = globs.first_without_match(&present) {
        return Err(not_cached(format!("no file matches `{glob}`")));
    }
    let wanted: Vec<String> = present
        .into_iter()
        .filter(|path| globs.matches(path))
        .collect();
    if let Some(shard) = missing_shard(&wanted) {
        return Err(not_cached(format!("`{shard}` is missing")));
    }
    let verified = wanted.into_iter().map(|path| {
        let local = snapshot.join(&path);
        let identity = verify(&local, &path, &Expected::default()).map_err(|damage| {
            HubError::DamagedCache {
                path: local.clone(),
                damage,
            }
        })?;
        Ok(FetchedFile {
            path,
            local,
            size: identity.size,
            sha256: identity.sha256,
        })
    });
    let files = verified.collect::<Result<_, HubError>>()?;
    Ok(HubFiles {
        commit,
        files,
        warnings: Vec::new(),
    })
}

/// The paths of all files below a folder, with slashes, in order. A folder that does not exist has none.
pub(crate) fn files_below(folder: &Path) -> io::Result<Vec<String>> {
    let mut files = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        let entries = match std::fs::read_dir(&current) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            // Follows links: a link whose blob is gone is neither, and so counts as missing.
            if path.is_dir() {
                folders.push(path);
            } else if path.is_file() {
                files.extend(path.strip_prefix(folder).ok().map(with_slashes));
            }
        }
    }
    Ok(files.into_iter().collect())
}

fn with_slashes(path: &Path) -> String {
    let parts = path.components().filter_map(|component| match component {
        Component::Normal(part) => Some(part.to_string_lossy()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The first shard that is missing beside others named `…-00000-of-00003.…`.
fn missing_shard(files: &[String]) -> Option<String> {
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
            let missing = (0..total).find(|number| !numbers.contains(number))?;
            Some(format!("{stem}-{missing:05}-of-{total:05}{rest}"))
        })
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

/// Whether a revision is a full commit hash already.
pub(super) fn is_commit(revision: &str) -> bool {
    revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn create_parent(path: &Path) -> Result<(), HubError> {
    let Some(parent) = path.parent() else {
        return Ok(());
    };
    std::fs::create_dir_all(parent).map_err(|source| HubError::Cache {
        path: parent.to_owned(),
        source,
    })
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn place(target: &Path, _blob: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Links need a privilege on Windows, where the official clients copy as well.
#[cfg(not(unix))]
fn place(_target: &Path, blob: &Path, link: &Path) -> io::Result<()> {
    std::fs::copy(blob, link).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shards(files: &[&str]) -> Option<String> {
        missing_shard(
            &files
                .iter()
                .map(|file| (*file).to_owned())
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn a_gap_between_shards_is_seen() {
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
    }

    #[test]
    fn files_are_listed_with_slashes_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("b/c")).unwrap();
        for file in ["b/c/2", "b/1", "a"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        assert_eq!(files_below(folder.path()).unwrap(), ["a", "b/1", "b/c/2"]);
        assert!(
            files_below(&folder.path().join("absent"))
                .unwrap()
                .is_empty()
        );
    }
}
