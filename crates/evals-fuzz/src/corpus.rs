//! The corpus: a folder of inputs that once broke a target.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// One target's folder, which need not exist.
#[derive(Debug, Clone)]
pub(crate) struct Corpus(PathBuf);

impl Corpus {
    pub(crate) fn new(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    /// The inputs in order of their files' names.
    ///
    /// # Panics
    ///
    /// A file of the folder cannot be read.
    pub(crate) fn inputs(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let Ok(entries) = std::fs::read_dir(&self.0) else {
            return Vec::new();
        };
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.expect("the corpus can be listed").path())
            .filter(|path| path.is_file())
            .collect();
        paths.sort();
        let read = |path: PathBuf| {
            let bytes = std::fs::read(&path)
                .unwrap_or_else(|error| panic!("cannot read `{}`: {error}", path.display()));
            (path, bytes)
        };
        paths.into_iter().map(read).collect()
    }

    /// Saves an input under a name derived from its content.
    pub(crate) fn keep(&self, input: &[u8]) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        input.hash(&mut hasher);
        self.write(&format!("found-{:016x}", hasher.finish()), input)
    }

    /// Writes the next input to a file, in case it ends the process.
    pub(crate) fn note(&self, input: &[u8]) -> PathBuf {
        self.write("running", input)
    }

    /// Removes the file of [`note`](Self::note) after the check returned, and the folder if it is empty.
    pub(crate) fn clear_note(&self) {
        // Errors are harmless: the next check overwrites the file, and a leftover is only one more input.
        let _ = std::fs::remove_file(self.0.join("running"));
        let _ = std::fs::remove_dir(&self.0);
    }

    fn write(&self, name: &str, input: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        let written = std::fs::create_dir_all(&self.0).and_then(|()| std::fs::write(&path, input));
        written.unwrap_or_else(|error| panic!("cannot write `{}`: {error}", path.display()));
        path
    }
}
