//! The folder of a new test set, which goes again if no set is written.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use evals_questions::{SetFolder, SetLock};

/// A folder that holds no set yet, locked. Dropping it removes what it holds unless a whole set was written.
#[derive(Debug)]
pub(super) struct NewSet {
    folder: PathBuf,
    lock: SetLock,
    /// Whether the folder was made for the set.
    made: bool,
    is_written: bool,
}

/// What a folder without questions may hold if it was claimed.
const UNFINISHED: [&str; 5] = [
    SetFolder::DOCUMENTS,
    SetFolder::MANIFEST,
    SetFolder::DROPPED,
    SetFolder::RECORD,
    SetFolder::LOCK,
];

/// Refuses a folder that holds something, before anything is asked.
pub(super) fn check(folder: &Path) -> Result<()> {
    let path = folder.display();
    if !folder.exists() {
        return Ok(());
    }
    if !folder.is_dir() {
        bail!("`{path}` is not a folder; name a folder that does not exist, or an empty one");
    }
    if SetFolder::new(folder).has_questions() {
        bail!(
            "`{path}` holds a set of questions already; name a different folder, or delete this one"
        );
    }
    // A killed command leaves its lock, and what it had written before the questions.
    let is_claimed = folder.join(SetFolder::LOCK).exists();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_ours = UNFINISHED.contains(&name.as_str()) || name.ends_with(".partial");
        if !(is_claimed && is_ours) {
            bail!("`{path}` is not empty; name a folder that does not exist, or an empty one");
        }
    }
    Ok(())
}

impl NewSet {
    /// Makes the folder unless it exists, and locks it.
    pub(super) fn claim(folder: &Path) -> Result<Self> {
        let made = !folder.exists();
        let lock = SetFolder::new(folder).lock()?;
        // Another process may have written a set before it gave the lock back.
        check(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            lock,
            made,
            is_written: false,
        })
    }

    /// The name of the folder, which is that of the set.
    pub(super) fn name(&self) -> Result<String> {
        let whole = self.folder.canonicalize()?;
        let name = whole.file_name().unwrap_or("questions".as_ref());
        Ok(name.to_string_lossy().into_owned())
    }

    /// Writes the files of the set, and the questions at last: all or nothing.
    pub(super) fn write(mut self, files: &[(&str, String)], questions: &str) -> Result<()> {
        for (name, text) in files {
            self.lock.write(name, text)?;
        }
        self.lock.write(SetFolder::QUESTIONS, questions)?;
        self.is_written = true;
        Ok(())
    }
}

impl Drop for NewSet {
    fn drop(&mut self) {
        if self.is_written {
            return;
        }
        // Still locked, so that no other process can have begun. What cannot be removed stays.
        for name in UNFINISHED {
            let _ = fs::remove_file(self.folder.join(name));
        }
        if self.made {
            let _ = fs::remove_dir(&self.folder);
        }
    }
}
