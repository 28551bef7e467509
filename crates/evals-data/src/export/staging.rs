//! A folder that gets its name, or its files, only once it is complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::ExportError;

/// A folder under a temporary name. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Staging {
    /// The folder that the user named.
    target: PathBuf,
    /// Whether it existed, empty.
    existed: bool,
    partial: PathBuf,
}

impl Staging {
    /// Creates the temporary folder: beside a target that does not exist, so that one renaming is enough, or inside one that does.
    pub(super) fn new(target: &Path) -> Result<Self, ExportError> {
        let name = format!(".export-{}.partial", std::process::id());
        let (partial, existed) = match fs::metadata(target) {
            Ok(metadata) if !metadata.is_dir() => {
                return Err(ExportError::NotAFolder {
                    path: target.to_owned(),
                });
            }
            Ok(_) => {
                let mut entries = fs::read_dir(target).map_err(|source| write(target, source))?;
                if entries.next().is_some() {
                    return Err(ExportError::NotEmpty {
                        folder: target.to_owned(),
                    });
                }
                (target.join(name), true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                (beside(target, &name)?, false)
            }
            Err(source) => return Err(write(target, source)),
        };
        fs::create_dir(&partial).map_err(|source| write(target, source))?;
        Ok(Self {
            target: target.to_owned(),
            existed,
            partial,
        })
    }

    /// Where a file is as long as the folder is incomplete.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.partial.join(name)
    }

    /// An error about a file, by the path that it would have.
    pub(super) fn failed(&self, name: &str, source: io::Error) -> ExportError {
        write(&self.target.join(name), source)
    }

    /// Gives the files their names.
    pub(super) fn publish(self) -> Result<(), ExportError> {
        let failed = |source| write(&self.target, source);
        if !self.existed {
            return fs::rename(&self.partial, &self.target).map_err(failed);
        }
        let mut moved: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(&self.partial).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = self.target.join(entry.file_name());
            if let Err(source) = fs::rename(entry.path(), &path) {
                for path in &moved {
                    remove(path);
                }
                return Err(failed(source));
            }
            moved.push(path);
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        remove(&self.partial);
    }
}

/// Removes a file or a folder. The error that led here is the one to report.
fn remove(path: &Path) {
    let _ = if path.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
}

fn beside(target: &Path, name: &str) -> Result<PathBuf, ExportError> {
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if parent.is_dir() {
        Ok(parent.join(name))
    } else {
        Err(ExportError::NoParent {
            folder: target.to_owned(),
            parent: parent.to_owned(),
        })
    }
}

fn write(path: &Path, source: io::Error) -> ExportError {
    ExportError::Write {
        path: path.to_owned(),
        source,
    }
}
