//! The record of a finished table's files, which reveals a damaged file before the engine reads it.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write as _};
use std::path::{MAIN_SEPARATOR_STR, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{iter, thread};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use walkdir::WalkDir;

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

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// Why files do not match their record, or could not be compared with it.
#[derive(Debug)]
pub(super) enum FileError {
    /// The files of a table differ from their record.
    Defect(String),
    Unreadable {
        path: PathBuf,
        source: io::Error,
    },
}

fn unreadable(path: &Path) -> impl Fn(io::Error) -> FileError {
    move |source| FileError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

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
        let mut paths = list(folder, "")?;
        paths.retain(|path| path != FILE_NAME && path != PARTIAL_NAME);
        let files = in_parallel(paths, |path| RecordedFile::of(folder, path))?;
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
        let changed = FileError::Defect(format!(
            "its file `{FILE_NAME}`, which records the others, was changed"
        ));
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
        self.check_contents(folder, |_| true)
    }

    /// Compares names and sizes of all files, and the contents of the manifests.
    pub(crate) fn check_versions(&self, folder: &Path) -> Result<(), FileError> {
        self.check_contents(folder, |file| file.path.starts_with(VERSIONS))
    }

    fn check_contents(
        &self,
        folder: &Path,
        is_read: impl Fn(&&RecordedFile) -> bool,
    ) -> Result<(), FileError> {
        self.check_names(folder)?;
        let files = self.files.iter().filter(is_read).collect();
        in_parallel(files, |file| file.check_content(folder)).map(drop)
    }

    /// Finds files that are missing or have another size, and manifests that were added, which would change the table.
    fn check_names(&self, folder: &Path) -> Result<(), FileError> {
        for file in &self.files {
            file.check_size(folder)?;
        }
        let added = list(folder, VERSIONS)?.into_iter().find(|path| {
            let is_manifest = Path::new(path).extension().is_some_and(|it| it == MANIFEST);
            is_manifest && !self.files.iter().any(|file| file.path == *path)
        });
        match added {
            Some(added) => Err(FileError::Defect(format!(
                "its file `{added}` was added after the index was finished"
            ))),
            None => Ok(()),
        }
    }
}

/// One file of a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedFile {
    /// Relative to the folder of the table, with `/` as separator.
    path: String,
    bytes: u64,
    sha256: String,
}

impl RecordedFile {
    fn of(folder: &Path, path: String) -> Result<Self, FileError> {
        let whole = folder.join(&path);
        let (bytes, sha256) = digest(&whole).map_err(unreadable(&whole))?;
        Ok(Self {
            path,
            bytes,
            sha256,
        })
    }

    fn check_size(&self, folder: &Path) -> Result<(), FileError> {
        let (path, expected) = (&self.path, self.bytes);
        let whole = folder.join(path);
        match fs::metadata(&whole) {
            Ok(found) if found.is_file() && found.len() == expected => Ok(()),
            Ok(found) if found.is_file() => Err(FileError::Defect(format!(
                "its file `{path}` has {} bytes instead of {expected}",
                found.len()
            ))),
            Err(error) if !is_absence(&error) => Err(unreadable(&whole)(error)),
            _ => Err(FileError::Defect(format!("its file `{path}` is missing"))),
        }
    }

    fn check_content(&self, folder: &Path) -> Result<(), FileError> {
        if Self::of(folder, self.path.clone())? == *self {
            return Ok(());
        }
        Err(FileError::Defect(format!(
            "the content of its file `{}` was changed",
            self.path
        )))
    }
}

/// Lists the files in the subfolder `below` of `folder`, sorted by path. The list of a missing subfolder is empty.
fn list(folder: &Path, below: &str) -> Result<Vec<String>, FileError> {
    let mut paths = Vec::new();
    for entry in WalkDir::new(folder.join(below)).min_depth(1) {
        match entry {
            Ok(entry) if entry.file_type().is_dir() => {}
            Ok(entry) => {
                // The engine's file names are all UTF-8.
                let path = entry.path().strip_prefix(folder).ok();
                let path = path.and_then(Path::to_str);
                paths.extend(path.map(|path| path.replace(MAIN_SEPARATOR_STR, "/")));
            }
            Err(error) => {
                let path = error.path().unwrap_or(folder).to_owned();
                // Only a circle of links has no cause, and no link is followed.
                if let Some(source) = error.into_io_error()
                    && !is_absence(&source)
                {
                    return Err(FileError::Unreadable { path, source });
                }
            }
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

/// Whether a path leads nowhere, for instance because a part of it is not a folder.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Length and SHA-256 of a file.
fn digest(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut sha256 = Sha256::new();
    let mut block = vec![0; BLOCK];
    let mut bytes = 0;
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok((bytes, hex::encode(sha256.finalize()))),
            Ok(read) => {
                sha256.update(&block[..read]);
                bytes += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn digest_of(files: &[RecordedFile]) -> String {
    let mut sha256 = Sha256::new();
    for file in files {
        let RecordedFile {
            path,
            bytes,
            sha256: digest,
        } = file;
        sha256.update(format!("{digest} {bytes} {path}\n"));
    }
    hex::encode(sha256.finalize())
}

/// Applies `work` to the items on as many threads as there are processors. Returns the results in the order of the items, or the failure of
/// the first item that failed. The threads are its own: they wait for the disk, and would keep a shared pool from computing.
fn in_parallel<I: Send, T: Send>(
    items: Vec<I>,
    work: impl Fn(I) -> Result<T, FileError> + Sync,
) -> Result<Vec<T>, FileError> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(items.len());
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take_turns = || {
        let taken = iter::from_fn(next);
        let done = taken.map(|(place, item)| (place, work(item)));
        done.collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(take_turns)).collect();
        let done = threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("reading a file does not panic"));
        done.collect::<Vec<_>>()
    });
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
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
