//! The list of a commit's files, stored in the cache, so that half a commit is never mistaken for the whole while offline.
//!
//! It is `datasets--<owner>--<name>/.evaluations/<commit>.json`, which the official clients ignore.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::HubError;
use super::cache::{RepositoryCache, write_whole};
use super::tree::ListedFile;

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
