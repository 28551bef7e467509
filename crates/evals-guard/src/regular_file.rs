//! Opens and reads files, and refuses pipes, devices and files that are too large.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a file cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system refused.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Reading a pipe or a device may never end.
    #[error("`{}` is {found}; only {read} is read", path.display())]
    NotRegular {
        /// The file.
        path: PathBuf,
        /// The kind of file found, such as `a folder`.
        found: &'static str,
        /// What is read: `a regular file`, or `a regular file or a pipe`.
        read: &'static str,
    },
    /// The file is not UTF-8 text.
    #[error("`{}` is not UTF-8 text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// The file is larger than the limit.
    #[error("`{}` is larger than {} MB, the limit for such a file", path.display(), most / 1_000_000)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit, in bytes.
        most: u64,
    },
}

/// Names the kind of a file that is not regular, such as `a folder`; `None` for a regular file.
pub fn other_kind(metadata: &Metadata) -> Option<&'static str> {
    if metadata.is_file() {
        return None;
    }
    if metadata.is_dir() {
        return Some("a folder");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;

        if metadata.file_type().is_fifo() {
            return Some("a named pipe");
        }
        if metadata.file_type().is_socket() {
            return Some("a socket");
        }
    }
    Some("a device")
}

/// Opens a regular file. Checks the kind first, because opening a pipe waits for a writer.
pub fn open(path: &Path) -> Result<File, FileError> {
    let metadata = fs::metadata(path).map_err(failed(path))?;
    match other_kind(&metadata) {
        None => File::open(path).map_err(failed(path)),
        Some(found) => Err(FileError::NotRegular {
            path: path.to_owned(),
            found,
            read: "a regular file",
        }),
    }
}

/// Reads a regular file of at most `most` bytes.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    read_at_most(open(path)?, path, most)
}

/// Reads the text of a regular file of at most `most` bytes.
pub fn read_text(path: &Path, most: u64) -> Result<String, FileError> {
    text(path, read(path, most)?)
}

/// Reads the text of a file that the user named, of at most `most` bytes. It may be a pipe, such as a shell's `<(…)`, or
/// `/dev/null`.
pub fn read_named(path: &Path, most: u64) -> Result<String, FileError> {
    text(path, read_named_bytes(path, most)?)
}

fn text(path: &Path, bytes: Vec<u8>) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|_| FileError::NotText {
        path: path.to_owned(),
    })
}

/// The same for a file that need not be text.
pub fn read_named_bytes(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let file = File::open(path).map_err(failed(path))?;
    let metadata = file.metadata().map_err(failed(path))?;
    if let Some(found) = other_kind(&metadata)
        && !is_pipe(&metadata)
        && !is_null_device(&metadata)
    {
        return Err(FileError::NotRegular {
            path: path.to_owned(),
            found,
            read: "a regular file or a pipe",
        });
    }
    read_at_most(file, path, most)
}

#[cfg(unix)]
fn is_pipe(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;

    metadata.file_type().is_fifo()
}

/// Whether this is `/dev/null`, under any name.
#[cfg(unix)]
fn is_null_device(metadata: &Metadata) -> bool {
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

    let null = fs::metadata("/dev/null");
    metadata.file_type().is_char_device() && null.is_ok_and(|null| null.rdev() == metadata.rdev())
}

#[cfg(not(unix))]
fn is_pipe(metadata: &Metadata) -> bool {
    !metadata.is_dir()
}

#[cfg(not(unix))]
fn is_null_device(_metadata: &Metadata) -> bool {
    false
}

fn read_at_most(file: File, path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let too_large = || FileError::TooLarge {
        path: path.to_owned(),
        most,
    };
    let length = file.metadata().map_or(0, |found| found.len());
    if length > most {
        return Err(too_large());
    }
    // A vector that grows while it is read copies a large file several times.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    // A file may grow while it is read.
    let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(failed(path))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= most) {
        Ok(bytes)
    } else {
        Err(too_large())
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> FileError {
    move |source| FileError::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), b"12345");
        let error = read(&path, 4).unwrap_err();
        assert!(matches!(error, FileError::TooLarge { .. }), "{error}");
    }

    #[test]
    fn a_named_file_may_be_a_pipe_or_the_null_device() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_named(&path, 5).unwrap(), "12345");
        let error = read_named(&path, 4).unwrap_err();
        assert!(matches!(error, FileError::TooLarge { .. }), "{error}");
        fs::write(&path, b"\xff").unwrap();
        let error = read_named(&path, 4).unwrap_err();
        assert!(matches!(error, FileError::NotText { .. }), "{error}");
        if cfg!(unix) {
            assert_eq!(read_named(Path::new("/dev/null"), 5).unwrap(), "");
            let error = read_named(Path::new("/dev/zero"), 16_000_000).unwrap_err();
            assert_eq!(
                error.to_string(),
                "`/dev/zero` is a device; only a regular file or a pipe is read"
            );
        }
    }

    #[test]
    fn anything_but_a_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = read(folder.path(), 5).unwrap_err().to_string();
        assert!(
            error.ends_with("is a folder; only a regular file is read"),
            "{error}"
        );
        if cfg!(unix) {
            let error = read(Path::new("/dev/zero"), 5).unwrap_err().to_string();
            assert_eq!(
                error,
                "`/dev/zero` is a device; only a regular file is read"
            );
        }
    }
}
