//! Digests of files, and of everything else that the identity of a model depends on.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::LocalError;
use crate::folder::open_file;

/// SHA-256 of the files, one after another. For a single file it is the checksum that the hub states.
pub(crate) fn of_files(paths: &[PathBuf]) -> Result<String, LocalError> {
    let mut hasher = Sha256::new();
    for path in paths {
        add_file(&mut hasher, path).map_err(|source| LocalError::read(path, source))?;
    }
    Ok(hex::encode(hasher.finalize()))
}

fn add_file(hasher: &mut Sha256, path: &Path) -> io::Result<()> {
    let (file, _) = open_file(path)?;
    let mut reader = BufReader::with_capacity(1 << 20, file);
    loop {
        let bytes = reader.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        hasher.update(bytes);
        let used = bytes.len();
        reader.consume(used);
    }
}

/// Version of the computation. A change that computes other numbers from the same files raises it, so that vectors and indexes
/// from before that change are not used.
const COMPUTATION: &[u8] = b"3";

/// The first 16 digits of the SHA-256 of several parts with their lengths, and of the version of the computation.
pub(crate) fn short(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in [COMPUTATION].iter().chain(parts) {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut digits = hex::encode(hasher.finalize());
    digits.truncate(16);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(short(&[b"ab", b"c"]), short(&[b"a", b"bc"]));
        assert_eq!(short(&[b"ab", b"c"]), short(&[b"ab", b"c"]));
    }
}
