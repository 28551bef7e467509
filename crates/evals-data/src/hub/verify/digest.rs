//! Digests of files, as the hub and git compute them.

use std::io::{self, Read};

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The SHA-256, and git's digest: the SHA-1 of the content after a header with kind and size.
pub(super) fn digests(reader: &mut impl Read, size: u64) -> io::Result<(String, String)> {
    let mut sha256 = Sha256::new();
    let mut git = Sha1::new();
    git.update(format!("blob {size}\0"));
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => {
                return Ok((hex::encode(sha256.finalize()), hex::encode(git.finalize())));
            }
            read => {
                sha256.update(&buffer[..read]);
                git.update(&buffer[..read]);
            }
        }
    }
}

/// The SHA-256 of bytes in memory.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
