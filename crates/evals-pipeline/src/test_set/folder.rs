//! The folder of a new test set, which goes again if no set is written.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use evals_questions::{GeneratedSet, SetFolder, SetLock};
use serde_json::Value;

/// A folder that holds no set yet, locked. Dropping it removes what is empty.
#[derive(Debug)]
pub(super) struct NewSet {
    folder: PathBuf,
    name: String,
    lock: SetLock,
    /// Whether the folder was made for the set.
    made: bool,
    written: bool,
}

/// Refuses a folder that holds something, before anything is asked.
pub(super) fn check(folder: &Path) -> Result<()> {
    let path = folder.display();
    if !folder.exists() {
        return Ok(());
    }
    if !folder.is_dir() {
        bail!("`{path}` is not a folder; name a folder that does not exist, or an empty one");
    }
    if folder.join(SetFolder::QUESTIONS).exists() {
        bail!(
            "`{path}` holds a set of questions already; name a different folder, or delete this one"
        );
    }
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        // What a killed command left.
        let is_ours =
            name == ".lock" || name == ".commit" || name.to_string_lossy().ends_with(".partial");
        if !is_ours {
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
        let whole = folder.canonicalize()?;
        let name = whole.file_name().unwrap_or("questions".as_ref());
        let new = Self {
            folder: folder.to_owned(),
            name: name.to_string_lossy().into_owned(),
            lock,
            made,
            written: false,
        };
        // A killed command may have left a whole set.
        check(folder)?;
        Ok(new)
    }

    /// The path as the user typed it.
    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    /// The name of the folder, which is that of the set.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Writes the set: all or nothing.
    pub(super) fn write(
        mut self,
        set: &GeneratedSet,
        record: &Value,
        manifest: String,
        documents: Option<String>,
    ) -> Result<()> {
        let mut others = vec![(SetFolder::MANIFEST, manifest)];
        others.extend(documents.map(|documents| (SetFolder::DOCUMENTS, documents)));
        self.lock.write(&set.kept, &set.dropped, record, others)?;
        self.written = true;
        Ok(())
    }
}

impl Drop for NewSet {
    fn drop(&mut self) {
        if self.written {
            return;
        }
        // Still locked, so that no other process can have begun. What cannot be removed stays.
        let _ = fs::remove_file(self.folder.join(".lock"));
        if self.made {
            let _ = fs::remove_dir(&self.folder);
        }
    }
}
