//! Verifying files: size, digests, and the marks of parquet.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use evals_guard::regular_file;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaDataReader;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::parquet_footer::{self, guarded};

/// A defect of a file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Damage {
    /// It cannot be read.
    #[error("cannot be read")]
    Unreadable(#[from] io::Error),
    /// It is not a regular file but, for example, a folder or a device.
    #[error("it is {0}, not a regular file")]
    NotAFile(&'static str),
    /// It has another size.
    #[error("{found} bytes instead of {expected}")]
    Size {
        /// The size that the hub states.
        expected: u64,
        /// The actual size.
        found: u64,
    },
    /// Its content has another digest.
    #[error("{kind} {found} instead of {expected}")]
    Digest {
        /// `SHA-256`, or `git's digest`.
        kind: &'static str,
        /// The digest that the hub states.
        expected: String,
        /// The digest of the actual content.
        found: String,
    },
    /// The bytes `PAR1`, which a parquet file has at both ends, are missing.
    #[error("not a parquet file: `PAR1` is missing at its {end}; it begins with {beginning:?}")]
    NotParquet {
        /// `beginning` or `end`.
        end: &'static str,
        /// The first characters, which may reveal an error page.
        beginning: String,
    },
    /// The parquet footer is broken.
    #[error("not a readable parquet file")]
    Footer(#[source] ParquetError),
}

/// Facts known about a file in advance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) size: Option<u64>,
    pub(crate) sha256: Option<String>,
    /// Git's digest; small files have no other.
    pub(crate) git: Option<String>,
}

impl Expected {
    /// Whether a digest of the content is known.
    pub(crate) fn has_digest(&self) -> bool {
        self.sha256.is_some() || self.git.is_some()
    }
}

/// A verified file's identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) size: u64,
    pub(crate) sha256: String,
}

const MAGIC: &[u8; 4] = b"PAR1";

/// Reads a file once: compares it with `expected`, checks parquet's magic bytes and footer, and returns its identity.
///
/// `name` tells the format, because a blob's path has no extension.
pub(crate) fn verify(path: &Path, name: &str, expected: &Expected) -> Result<Identity, Damage> {
    // Opening a named pipe waits for a writer, and a device may never end.
    let metadata = path.metadata()?;
    if let Some(other) = regular_file::other_kind(&metadata) {
        return Err(Damage::NotAFile(other));
    }
    let mut file = File::open(path)?;
    let size = metadata.len();
    check_size(size, expected)?;
    let mut sha256 = Sha256::new();
    // Git's digest is the SHA-1 of the content after a header with kind and size. Only small files need it.
    let header = format!("blob {size}\0");
    let mut git = expected
        .git
        .is_some()
        .then(|| Sha1::new_with_prefix(header));
    read_through(&mut file, |bytes| {
        sha256.update(bytes);
        if let Some(git) = &mut git {
            git.update(bytes);
        }
    })?;
    let sha256 = hex::encode(sha256.finalize());
    check_digest("SHA-256", &sha256, expected.sha256.as_deref())?;
    if let Some(git) = git {
        let git = hex::encode(git.finalize());
        check_digest("git's digest", &git, expected.git.as_deref())?;
    }
    if Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "parquet")
    {
        check_parquet(&mut file, size)?;
    }
    Ok(Identity { size, sha256 })
}

pub(super) fn check_size(found: u64, expected: &Expected) -> Result<(), Damage> {
    match expected.size {
        Some(expected) if expected != found => Err(Damage::Size { expected, found }),
        _ => Ok(()),
    }
}

fn check_digest(kind: &'static str, found: &str, expected: Option<&str>) -> Result<(), Damage> {
    match expected {
        Some(expected) if !expected.eq_ignore_ascii_case(found) => Err(Damage::Digest {
            kind,
            expected: expected.to_owned(),
            found: found.to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Reads everything, and calls back with each part.
fn read_through(reader: &mut impl Read, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(()),
            read => each(&buffer[..read]),
        }
    }
}

/// The SHA-256 of bytes in memory.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Checks `PAR1` at both ends and reads the footer. Even a dataset without rows has these.
fn check_parquet(file: &mut File, size: u64) -> Result<(), Damage> {
    let mut head = [0; 16];
    file.seek(SeekFrom::Start(0))?;
    let read = file.read(&mut head)?;
    let not_parquet = |end| Damage::NotParquet {
        end,
        beginning: String::from_utf8_lossy(&head[..read]).into_owned(),
    };
    if !head.starts_with(MAGIC) {
        return Err(not_parquet("beginning"));
    }
    let mut tail = [0; 4];
    file.seek(SeekFrom::Start(size.saturating_sub(4)))?;
    file.read_exact(&mut tail)?;
    if tail != *MAGIC {
        return Err(not_parquet("end"));
    }
    parquet_footer::check(file).map_err(Damage::Footer)?;
    let read = guarded(|| ParquetMetaDataReader::new().parse_and_finish(file));
    let read = read.unwrap_or_else(|panicked| Err(ParquetError::External(Box::new(panicked))));
    read.map(|_| ()).map_err(Damage::Footer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn damage(name: &str, bytes: &[u8], expected: &Expected) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        verify(&path, name, expected).unwrap_err().to_string()
    }

    #[test]
    fn identity_of_a_known_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc.jsonl");
        std::fs::write(&path, "abc").unwrap();
        let identity = verify(&path, "abc.jsonl", &Expected::default()).unwrap();
        assert_eq!(identity.size, 3);
        // FIPS 180-2, appendix B.1.
        assert_eq!(
            identity.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[cfg(unix)]
    #[test]
    fn other_things_than_files_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| {
            verify(path, "a.csv", &Expected::default())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused(Path::new("/dev/zero")),
            "it is a device, not a regular file"
        );
        assert_eq!(refused(folder.path()), "it is a folder, not a regular file");
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert_eq!(refused(&socket), "it is a socket, not a regular file");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap();
        assert!(made.success());
        assert_eq!(refused(&pipe), "it is a named pipe, not a regular file");
    }

    #[test]
    fn names_the_damage() {
        let size = Expected {
            size: Some(7),
            ..Expected::default()
        };
        assert_eq!(damage("a.csv", b"abc", &size), "3 bytes instead of 7");
        let sha256 = Expected {
            size: Some(3),
            sha256: Some("00".to_owned()),
            git: None,
        };
        assert!(damage("a.csv", b"abc", &sha256).ends_with("instead of 00"));
        let git = Expected {
            size: Some(3),
            sha256: None,
            git: Some("00".to_owned()),
        };
        // printf abc | git hash-object --stdin
        assert_eq!(
            damage("a.csv", b"abc", &git),
            "git's digest f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f instead of 00"
        );
        assert_eq!(
            damage("a.parquet", b"<html>busy</html>", &Expected::default()),
            "not a parquet file: `PAR1` is missing at its beginning; it begins with \"<html>busy</html\""
        );
        assert!(
            damage("a.parquet", b"PAR1 cut", &Expected::default()).contains("missing at its end")
        );
        assert_eq!(
            damage("a.parquet", b"PAR1....PAR1", &Expected::default()),
            "not a readable parquet file"
        );
        assert!(
            damage("a.parquet", b"", &Expected::default()).contains("missing at its beginning")
        );
    }
}
