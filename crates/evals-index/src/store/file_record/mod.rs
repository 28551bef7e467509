//! The record of a finished table's files, which reveals a damaged file before the engine reads it.

mod error;
mod recorded_file;

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub(super) use error::FileError;

use error::{FileDefect, unreadable};
use recorded_file::{RecordedFile, digest, is_absence};

/// Name of the record in the folder of the table.
const FILE_NAME: &str = "evaluations-files.json";
/// The record while it is being written.
const PARTIAL_NAME: &str = "evaluations-files.json.partial";
/// Folder of the manifests, which list the table's files.
const VERSIONS: &str = "_versions";
/// The extension of the manifests.
const MANIFEST: &str = "manifest";
const FORMAT: u32 = 1;
/// Most bytes of a record, which needs about 150 for each file of a table.
const LARGEST: u64 = 64_000_000;

/// Size and SHA-256 of every file of a finished table.
///
/// The engine trusts its files: a changed byte may cause another ranking, a panic, or a request for more memory than the machine has.
/// All files are therefore read before the engine opens any. Exact search reads all vectors for each question, so the check takes
/// about as long as one question whose files are not in memory yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileRecord {
    format: u32,
    /// Sorted by path.
    files: Vec<RecordedFile>,
    /// Digest of the list above, which reveals changes of the record itself.
    sha256: String,
}

impl FileRecord {
    /// Reads all files below `folder`.
    pub(crate) fn take(folder: &Path) -> Result<Self, FileError> {
        let mut paths = Vec::new();
        list(folder, "", &mut paths)?;
        paths.retain(|path| path != FILE_NAME && path != PARTIAL_NAME);
        paths.sort_unstable();
        let files = in_parallel(&paths, |path| {
            let whole = folder.join(path);
            let (bytes, sha256) = digest(&whole).map_err(unreadable(&whole))?;
            Ok(RecordedFile {
                path: path.clone(),
                bytes,
                sha256,
            })
        })?;
        Ok(Self {
            format: FORMAT,
            sha256: digest_of(&files),
            files,
        })
    }

    /// Writes the record into `folder`, as a whole or not at all. It is on the disk when this returns.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), FileError> {
        let partial = folder.join(PARTIAL_NAME);
        let json =
            serde_json::to_string_pretty(self).expect("strings and numbers have a JSON text");
        let written = write_synced(&partial, &json)
            .and_then(|()| fs::rename(&partial, folder.join(FILE_NAME)))
            .and_then(|()| sync_folder(folder));
        if written.is_err() {
            let _ = fs::remove_file(&partial);
        }
        written.map_err(unreadable(&folder.join(FILE_NAME)))
    }

    /// The record in `folder`; `None` if it does not exist.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, FileError> {
        let path = folder.join(FILE_NAME);
        let changed = FileError::Defect(FileDefect::Record);
        let mut json = Vec::new();
        // A device may never end, and no record is as long as the limit.
        let read = fs::metadata(&path).and_then(|found| {
            if !found.is_file() {
                return Ok(false);
            }
            let file = File::open(&path)?;
            file.take(LARGEST + 1).read_to_end(&mut json)?;
            Ok(json.len() as u64 <= LARGEST)
        });
        match read {
            Ok(true) => {}
            Ok(false) => return Err(changed),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&path)(error)),
        }
        match serde_json::from_slice::<Self>(&json) {
            Ok(record) if record.format == FORMAT && record.sha256 == digest_of(&record.files) => {
                Ok(Some(record))
            }
            _ => Err(changed),
        }
    }

    /// Compares all files below `folder` with the record, names and sizes first because that is quick.
    pub(crate) fn check(&self, folder: &Path) -> Result<(), FileError> {
        self.check_names(folder)?;
        let changed = in_parallel(&self.files, |file| file.has_changed(folder))?;
        let mut files = self.files.iter().zip(changed);
        match files.find(|(_, changed)| *changed) {
            Some((file, _)) => Err(FileDefect::Content(file.path.clone()).into()),
            None => Ok(()),
        }
    }

    /// Compares names and sizes of all files, and the contents of the manifests.
    pub(crate) fn check_versions(&self, folder: &Path) -> Result<(), FileError> {
        self.check_names(folder)?;
        for file in self.files.iter().filter(|file| file.is_version()) {
            if file.has_changed(folder)? {
                return Err(FileDefect::Content(file.path.clone()).into());
            }
        }
        Ok(())
    }

    /// Finds files that are missing or have another size, and manifests that were added, which would change the table.
    fn check_names(&self, folder: &Path) -> Result<(), FileError> {
        for file in &self.files {
            file.check_size(folder)?;
        }
        let mut versions = Vec::new();
        list(&folder.join(VERSIONS), VERSIONS, &mut versions)?;
        versions.sort_unstable();
        let is_added = |path: &&String| {
            let is_manifest = Path::new(path).extension().is_some_and(|it| it == MANIFEST);
            is_manifest && !self.files.iter().any(|file| file.path == **path)
        };
        match versions.iter().find(is_added) {
            Some(added) => Err(FileDefect::Added(added.clone()).into()),
            None => Ok(()),
        }
    }
}

/// Appends the paths of the files below `folder` to `paths`, each after `prefix`. A missing folder adds nothing.
fn list(folder: &Path, prefix: &str, paths: &mut Vec<String>) -> Result<(), FileError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_absence(&error) => return Ok(()),
        Err(error) => return Err(unreadable(folder)(error)),
    };
    for entry in entries {
        let entry = entry.map_err(unreadable(folder))?;
        let kind = entry.file_type().map_err(unreadable(&entry.path()))?;
        // The engine's file names are all UTF-8.
        let Some(name) = entry.file_name().to_str().map(ToOwned::to_owned) else {
            continue;
        };
        let path = if prefix.is_empty() {
            name
        } else {
            format!("{prefix}/{name}")
        };
        if kind.is_dir() {
            list(&entry.path(), &path, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}

fn digest_of(files: &[RecordedFile]) -> String {
    let mut sha256 = Sha256::new();
    for file in files {
        sha256.update(format!("{file}\n"));
    }
    hex::encode(sha256.finalize())
}

/// Applies `work` to the items on all processors. Returns the results in the order of the items, or the failure of the first item that
/// failed.
fn in_parallel<I: Sync, T: Send>(
    items: &[I],
    work: impl Fn(&I) -> Result<T, FileError> + Sync,
) -> Result<Vec<T>, FileError> {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let run = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else {
                return done;
            };
            done.push((number, work(item)));
        }
    };
    let mut done = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers.min(items.len()))
            .map(|_| scope.spawn(run))
            .collect();
        let parts = workers.into_iter().map(|worker| {
            worker
                .join()
                .expect("reading and hashing a file does not panic")
        });
        parts.flatten().collect::<Vec<_>>()
    });
    done.sort_unstable_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

fn write_synced(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Makes a new file name survive a power failure, if the system supports it.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
