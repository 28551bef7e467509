//! A folder that gets its name, or its files, only once it is complete.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::ExportError;

/// What the names of temporary folders begin and end with. Between them is the number of the process.
const NAME: [&str; 2] = [".export-", ".partial"];

/// A folder under a temporary name. Dropping it removes it.
#[derive(Debug)]
pub(super) struct Staging {
    /// The folder that the user named.
    target: PathBuf,
    /// Whether it existed, empty.
    existed: bool,
    partial: PathBuf,
    /// Tells other processes that the export is going on; `None` on a file system without locks.
    _lock: Option<File>,
}

impl Staging {
    /// Creates the temporary folder: beside a target that does not exist, so that one renaming is enough, or inside one that does.
    /// Removes those that killed processes left there.
    pub(super) fn new(target: &Path) -> Result<Self, ExportError> {
        let [start, end] = NAME;
        let name = format!("{start}{}{end}", std::process::id());
        let (partial, existed) = match fs::metadata(target) {
            Ok(metadata) if !metadata.is_dir() => {
                return Err(unusable(target, "is not a folder"));
            }
            Ok(_) => {
                remove_leftovers(target);
                let mut entries = fs::read_dir(target).map_err(|source| write(target, source))?;
                if entries.next().is_some() {
                    return Err(unusable(target, "is not empty"));
                }
                (target.join(name), true)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let parent = parent(target)?;
                remove_leftovers(parent);
                (parent.join(name), false)
            }
            Err(source) => return Err(write(target, source)),
        };
        let lock = create(&partial).map_err(|source| write(target, source))?;
        Ok(Self {
            target: target.to_owned(),
            existed,
            partial,
            _lock: lock,
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

/// Creates a folder and locks it.
fn create(folder: &Path) -> io::Result<Option<File>> {
    loop {
        fs::create_dir(folder)?;
        let lock = File::open(folder).ok();
        let lock = lock.filter(|lock| lock.lock().is_ok());
        // Another process may have taken it for a leftover before it was locked.
        if lock.is_none() || folder.is_dir() {
            return Ok(lock);
        }
    }
}

/// Removes the temporary folders of exports in `folder` that no process has locked. Whatever cannot be removed stays.
fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| {
            let [start, end] = NAME;
            name.strip_prefix(start)?.strip_suffix(end)
        });
        let is_ours = number.is_some_and(|number| number.parse::<u32>().is_ok());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_ours || !is_folder {
            continue;
        }
        let path = entry.path();
        // Locked while it is removed, so that a process that is just creating it notices.
        if let Ok(lock) = File::open(&path)
            && lock.try_lock().is_ok()
        {
            remove(&path);
        }
    }
}

/// The folder around a target.
fn parent(target: &Path) -> Result<&Path, ExportError> {
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if parent.is_dir() {
        Ok(parent)
    } else {
        let (parent, target) = (parent.display(), target.display());
        let problem = format!("the folder `{parent}` for `{target}` does not exist");
        Err(ExportError::Target { problem })
    }
}

fn unusable(target: &Path, what: &str) -> ExportError {
    let target = target.display();
    let problem = format!("`{target}` {what}; name a folder that does not exist, or an empty one");
    ExportError::Target { problem }
}

fn write(path: &Path, source: io::Error) -> ExportError {
    ExportError::Write {
        path: path.to_owned(),
        source,
    }
}
