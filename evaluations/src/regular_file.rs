//! Reading files, of each no more than it may sensibly hold.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a file is not read.
#[derive(Debug, Error)]
pub(crate) enum FileError {
    /// The operating system refused.
    #[error("cannot read `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// Reading a pipe or a device may never end.
    #[error("`{}` is {what}; only a regular file is read", path.display())]
    NotRegular { path: PathBuf, what: &'static str },
    /// Its bytes are no text.
    #[error("`{}` is not UTF-8 text", path.display())]
    NotText { path: PathBuf },
    /// It is larger than any such file.
    #[error("`{}` has more than {} MB, which is the most that is read of such a file", path.display(), most / 1_000_000)]
    TooLarge { path: PathBuf, most: u64 },
}

/// The content of a regular file of at most `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let failed = |source| FileError::Io {
        path: path.to_owned(),
        source,
    };
    let file = open(path)?;
    let size = file.metadata().map_err(failed)?.len();
    if size > most {
        return Err(FileError::TooLarge {
            path: path.to_owned(),
            most,
        });
    }
    read_at_most(file, path, most)
}

/// The text of a file that the user named, of at most `most` bytes. It may be a pipe, as a shell's `<(…)` makes one, or
/// `/dev/null`; of a device that never ends no more than that is read.
pub(crate) fn read_named(path: &Path, most: u64) -> Result<String, FileError> {
    let failed = |source| FileError::Io {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    if file.metadata().is_ok_and(|found| found.len() > most) {
        return Err(FileError::TooLarge {
            path: path.to_owned(),
            most,
        });
    }
    let bytes = read_at_most(file, path, most)?;
    String::from_utf8(bytes).map_err(|_| FileError::NotText {
        path: path.to_owned(),
    })
}

fn read_at_most(file: File, path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    // A file may grow while it is read.
    let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|source| FileError::Io {
        path: path.to_owned(),
        source,
    })?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= most) {
        Ok(bytes)
    } else {
        Err(FileError::TooLarge {
            path: path.to_owned(),
            most,
        })
    }
}

/// Opens a regular file. It is looked at first: opening a pipe waits until somebody writes to it.
pub(crate) fn open(path: &Path) -> Result<File, FileError> {
    let failed = |source| FileError::Io {
        path: path.to_owned(),
        source,
    };
    let metadata = fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(FileError::NotRegular {
            path: path.to_owned(),
            what: if metadata.is_dir() {
                "a folder"
            } else {
                "a pipe or a device"
            },
        });
    }
    File::open(path).map_err(failed)
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
    fn a_named_file_is_text_and_may_be_no_regular_file() {
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
                "`/dev/zero` has more than 16 MB, which is the most that is read of such a file"
            );
        }
    }

    #[test]
    fn what_is_no_file_is_refused() {
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
                "`/dev/zero` is a pipe or a device; only a regular file is read"
            );
        }
    }
}
