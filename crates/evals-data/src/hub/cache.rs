//! The hub cache on disk, in the layout that all official clients share. A model's folder begins with `models--`:
//!
//! ```text
//! datasets--<owner>--<name>/refs/<revision>              the commit a revision pointed to
//! datasets--<owner>--<name>/snapshots/<commit>/<path>    a relative link into blobs, or the file itself
//! datasets--<owner>--<name>/blobs/<etag>                 content; the etag is the SHA-256 of a large file
//! .locks/datasets--<owner>--<name>/<etag>.lock           held while a blob is written
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::tree::{GIT_DIGITS, ListedFile, is_hex};
use super::{HubError, Repository};

/// One repository's part of the cache.
#[derive(Debug, Clone)]
pub(super) struct RepositoryCache {
    root: PathBuf,
    name: String,
}

impl RepositoryCache {
    pub(super) fn new(root: &Path, repo: &Repository) -> Self {
        Self {
            root: root.to_owned(),
            name: repo.folder_name(),
        }
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.root.join(&self.name)
    }

    pub(super) fn blob(&self, etag: &str) -> PathBuf {
        self.folder().join("blobs").join(etag)
    }

    pub(super) fn lock(&self, etag: &str) -> PathBuf {
        let locks = self.root.join(".locks").join(&self.name);
        locks.join(format!("{etag}.lock"))
    }

    pub(super) fn snapshot(&self, commit: &str) -> PathBuf {
        self.folder().join("snapshots").join(commit)
    }

    fn reference(&self, revision: &str) -> PathBuf {
        self.folder().join("refs").join(revision)
    }

    /// The commit that `revision` pointed to when it was last fetched. A reference file with other content, such as a truncated one, is
    /// ignored.
    pub(super) fn commit(&self, revision: &str) -> Option<String> {
        if is_commit(revision) {
            return Some(revision.to_owned());
        }
        let stored = std::fs::read_to_string(self.reference(revision)).ok()?;
        let commit = stored.trim();
        is_commit(commit).then(|| commit.to_owned())
    }

    /// Records the commit that `revision` points to. Writes only if it changed, so that a read-only cache stays usable.
    pub(super) fn remember(&self, revision: &str, commit: &str) -> Result<(), HubError> {
        if self.commit(revision).as_deref() == Some(commit) {
            return Ok(());
        }
        let path = self.reference(revision);
        write_whole(&path, commit.as_bytes()).map_err(HubError::cache(&path))
    }

    /// Links `snapshots/<commit>/<file>` to the blob.
    pub(super) fn link(&self, commit: &str, file: &str, etag: &str) -> Result<PathBuf, HubError> {
        let path = self.snapshot(commit).join(file);
        create_parent(&path)?;
        let failed = HubError::cache(&path);
        remove(&path).map_err(&failed)?;
        // From the link's folder up to the repository's: one step for each part of `file` but the last, and two for `snapshots/<commit>`.
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
            remove(&path).map_err(HubError::cache(&path))?;
        }
        Ok(())
    }
}

/// Whether a revision is a full commit hash already.
pub(super) fn is_commit(revision: &str) -> bool {
    is_hex(revision, GIT_DIGITS)
}

pub(super) fn create_parent(path: &Path) -> Result<(), HubError> {
    let parent = path.parent().unwrap_or(path);
    std::fs::create_dir_all(parent).map_err(HubError::cache(parent))
}

/// Writes a file under another name and renames it, so that nobody ever reads half of it.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut name = path.as_os_str().to_owned();
    let write = WRITES.fetch_add(1, Ordering::Relaxed);
    name.push(format!(".{}-{write}.partial", std::process::id()));
    let partial = PathBuf::from(name);
    let moved = std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, path));
    if moved.is_err() {
        // The first failure is the one to report.
        let _ = remove(&partial);
    }
    moved
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn place(target: &Path, _blob: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Links need a privilege on Windows, where the official clients also copy.
#[cfg(not(unix))]
fn place(_target: &Path, blob: &Path, link: &Path) -> io::Result<()> {
    std::fs::copy(blob, link).map(|_| ())
}

/// A commit's files as the hub listed them.
#[derive(Debug, Serialize, Deserialize)]
struct StoredListing {
    files: Vec<ListedFile>,
}

impl RepositoryCache {
    fn listing_path(&self, commit: &str) -> PathBuf {
        self.folder()
            .join(".evaluations")
            .join(format!("{commit}.json"))
    }

    /// The files of a commit, if a list of them is stored.
    pub(super) fn listing(&self, commit: &str) -> Option<Vec<ListedFile>> {
        let bytes = std::fs::read(self.listing_path(commit)).ok()?;
        let listing: StoredListing = serde_json::from_slice(&bytes).ok()?;
        let is_sound = listing.files.iter().all(|file| file.fault().is_none());
        is_sound.then_some(listing.files)
    }

    /// Stores the list of a commit's files. A read-only cache goes without.
    pub(super) fn keep_listing(&self, commit: &str, files: &[ListedFile]) -> Result<(), HubError> {
        if self.listing(commit).as_deref() == Some(files) {
            return Ok(());
        }
        let path = self.listing_path(commit);
        let listing = StoredListing {
            files: files.to_vec(),
        };
        let text = serde_json::to_vec(&listing).expect("strings and numbers only");
        match write_whole(&path, &text) {
            Err(error) if is_read_only(&error) => Ok(()),
            written => written.map_err(HubError::cache(&path)),
        }
    }
}

fn is_read_only(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_that_is_not_a_commit_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let cache = RepositoryCache::new(folder.path(), &Repository::dataset("owner/name"));
        let commit = "0123456789abcdef0123456789abcdef01234567";
        cache.remember("refs/pr/1", commit).unwrap();
        assert_eq!(cache.commit("refs/pr/1").as_deref(), Some(commit));
        for cut in ["", "\n", &commit[..20], "../../../../etc"] {
            std::fs::write(cache.reference("refs/pr/1"), cut).unwrap();
            assert_eq!(cache.commit("refs/pr/1"), None, "{cut:?}");
        }
        cache.remember("refs/pr/1", commit).unwrap();
        let left = std::fs::read_dir(folder.path().join("datasets--owner--name/refs/refs/pr"));
        assert_eq!(left.unwrap().count(), 1, "no partial file is left");
    }
}

#[cfg(test)]
mod listing_tests {
    use super::*;
    use crate::hub::Repository;

    #[test]
    fn a_stored_list_reads_back_unless_it_is_truncated() {
        let folder = tempfile::tempdir().unwrap();
        let cache = RepositoryCache::new(folder.path(), &Repository::dataset("owner/name"));
        let files = vec![ListedFile {
            path: "a/b.parquet".to_owned(),
            size: 9,
            sha256: Some("ab".to_owned()),
            etag: "ab".to_owned(),
        }];
        cache.keep_listing("c0", &files).unwrap();
        assert_eq!(cache.listing("c0").unwrap(), files);
        let path = cache.listing_path("c0");
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(cache.listing("c0"), None);
        cache.keep_listing("c0", &files).unwrap();
        assert_eq!(cache.listing("c0").unwrap(), files, "written again");
        let left = std::fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "no partial file is left");
    }
}
