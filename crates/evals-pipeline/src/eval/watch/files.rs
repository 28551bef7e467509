//! The watched files: when each was changed last.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Most files of a folder that are watched; a folder with more holds data, not a program.
const MOST: usize = 20_000;

/// Folders that hold what programs write, not what people edit.
const BYPRODUCTS: [&str; 4] = ["__pycache__", "node_modules", "target", "venv"];

/// The files that start a run when they change.
#[derive(Debug)]
pub(super) struct Watched {
    /// The file as the user named it.
    named: PathBuf,
    /// The same in the working folder.
    file: PathBuf,
    folder: Option<PathBuf>,
    ignored: BTreeSet<PathBuf>,
}

/// The files at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Snapshot(BTreeMap<PathBuf, (Option<SystemTime>, u64)>);

impl Watched {
    /// Watches a file of the working folder `working`, where its name is relative.
    pub(super) fn new(file: &Path, working: &Path) -> Self {
        Self {
            named: file.to_owned(),
            // As the files of the folder are named, so that it is not there twice.
            file: working.join(file),
            folder: None,
            ignored: BTreeSet::new(),
        }
    }

    /// Watches the files of a folder too.
    pub(super) fn add_folder(&mut self, folder: &Path) {
        self.folder = Some(folder.to_owned());
    }

    /// Whether this is the file that was named, rather than one of the folder.
    pub(super) fn is_file(&self, path: &Path) -> bool {
        self.file == path
    }

    /// Watches a file, or everything in a folder, no longer.
    pub(super) fn ignore(&mut self, path: &Path) {
        let full = std::path::absolute(path);
        self.ignored
            .insert(full.unwrap_or_else(|_| path.to_owned()));
        self.ignored.extend(path.canonicalize());
    }

    /// The files as they are now. A file or a folder that cannot be read counts as missing.
    pub(super) fn snapshot(&self) -> Snapshot {
        let mut files = BTreeMap::new();
        if let Ok(metadata) = fs::metadata(&self.file) {
            files.insert(self.file.clone(), stamp(&metadata));
        }
        let mut ahead: Vec<PathBuf> = self.folder.iter().cloned().collect();
        while let Some(folder) = ahead.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries.flatten() {
                let path = entry.path();
                if self.ignored.contains(&path) || !is_edited(&entry.file_name()) {
                    continue;
                }
                let Ok(metadata) = entry.metadata() else {
                    continue;
                };
                if metadata.is_dir() {
                    ahead.push(path);
                } else if metadata.is_file() && files.len() < MOST {
                    files.insert(path, stamp(&metadata));
                }
            }
        }
        Snapshot(files)
    }

    /// A snapshot without the files that have been ignored since.
    pub(super) fn without_ignored(&self, mut snapshot: Snapshot) -> Snapshot {
        snapshot.0.retain(|path, _| !self.ignored.contains(path));
        snapshot
    }

    /// An earlier snapshot, with the files that have been watched only since then as they are now.
    pub(super) fn extended(&self, mut earlier: Snapshot) -> Snapshot {
        let is_new_folder = earlier.0.keys().all(|path| *path == self.file);
        if is_new_folder && self.folder.is_some() {
            for (path, stamp) in self.snapshot().0 {
                earlier.0.entry(path).or_insert(stamp);
            }
        }
        earlier
    }
}

impl Snapshot {
    /// The files that differ from an earlier snapshot, appeared or vanished.
    pub(super) fn changed_since(&self, earlier: &Self) -> BTreeSet<PathBuf> {
        let both = self.0.keys().chain(earlier.0.keys());
        both.filter(|path| self.0.get(*path) != earlier.0.get(*path))
            .cloned()
            .collect()
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`", self.named.display())?;
        match &self.folder {
            Some(folder) => write!(formatter, " and of the files in `{}`", folder.display()),
            None => Ok(()),
        }
    }
}

fn stamp(metadata: &Metadata) -> (Option<SystemTime>, u64) {
    (metadata.modified().ok(), metadata.len())
}

/// Whether people edit a file or folder of this name: editors and programs write hidden, temporary and compiled ones.
fn is_edited(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_temporary = name.starts_with(['.', '#'])
        || name.ends_with(['~', '#'])
        // Vim tests with this name whether it can write to the folder.
        || name == "4913"
        || [".tmp", ".swp", ".pyc", ".log", ".bak"]
            .iter()
            .any(|end| name.ends_with(end));
    !is_temporary && !BYPRODUCTS.contains(&&*name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_in_the_file_and_in_the_folder_are_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("cases.yaml"), "a").unwrap();
        fs::create_dir(path("src")).unwrap();
        fs::write(path("src/rag.py"), "a").unwrap();
        let mut watched = Watched::new(Path::new("cases.yaml"), folder.path());
        let alone = watched.snapshot();
        watched.add_folder(folder.path());
        let before = watched.extended(alone);
        assert!(watched.snapshot().changed_since(&before).is_empty());

        fs::write(path("cases.yaml"), "ab").unwrap();
        fs::write(path("src/rag.py"), "ab").unwrap();
        fs::write(path("src/new.py"), "a").unwrap();
        let changed = watched.snapshot().changed_since(&before);
        let names: Vec<_> = changed.iter().filter_map(|it| it.file_name()).collect();
        assert_eq!(names, ["cases.yaml", "new.py", "rag.py"]);
        fs::remove_file(path("src/new.py")).unwrap();
        let changed = watched.snapshot().changed_since(&before);
        assert_eq!(
            changed.len(),
            2,
            "a file that came and went has not changed"
        );
    }

    #[test]
    fn what_editors_and_programs_write_is_not_watched() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("data/runs")).unwrap();
        fs::create_dir(path("__pycache__")).unwrap();
        let mut watched = Watched::new(Path::new("cases.yaml"), folder.path());
        watched.add_folder(folder.path());
        watched.ignore(&path("data"));
        watched.ignore(&path("report.json"));
        let before = watched.snapshot();
        for name in [
            ".cases.yaml.swp",
            "cases.yaml~",
            "#cases.yaml#",
            "4913",
            "rag.log",
            "__pycache__/rag.pyc",
            "data/runs/report.json",
            "report.json",
        ] {
            fs::write(path(name), "x").unwrap();
        }
        assert_eq!(watched.snapshot(), before);
    }
}
