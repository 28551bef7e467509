//! The files of the fake hub.

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// A file of the repository.
#[derive(Debug, Clone)]
pub(super) struct StoredFile {
    pub(super) bytes: Vec<u8>,
    /// Large files have a SHA-256 in the tree, and are served from another address.
    pub(super) large: bool,
}

impl StoredFile {
    pub(super) fn sha256(&self) -> String {
        hex::encode(Sha256::digest(&self.bytes))
    }

    /// Git's digest of the content.
    pub(super) fn oid(&self) -> String {
        let mut blob = format!("blob {}\0", self.bytes.len()).into_bytes();
        blob.extend(&self.bytes);
        hex::encode(Sha1::digest(&blob))
    }

    pub(super) fn entry(&self, path: &str) -> String {
        let (oid, size) = (self.oid(), self.bytes.len());
        let large = if self.large {
            format!(
                r#","lfs":{{"oid":"{}","size":{size},"pointerSize":133}},"xetHash":"ab12""#,
                self.sha256()
            )
        } else {
            String::new()
        };
        format!(r#"{{"type":"file","oid":"{oid}","size":{size},"path":"{path}"{large}}}"#)
    }
}
