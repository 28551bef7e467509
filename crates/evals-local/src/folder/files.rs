//! The files in a model's folder: where they are, and reading them.

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use serde::de::DeserializeOwned;

use super::regular_file;
use crate::error::LocalError;

/// The folder of one model, as the hub lays it out.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(super) path: PathBuf,
    pub(super) name: String,
}

impl Folder {
    /// The model's name: `owner/name` in the hub's cache, else the name of the folder.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The path of a file of this name, whether it exists or not.
    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// The folder of one of the model's modules, by its `path` in `modules.json`.
    pub(crate) fn subfolder(&self, path: &str) -> Result<Self, LocalError> {
        Ok(Self {
            path: self.own_path("modules.json", "path", path)?,
            name: self.name.clone(),
        })
    }

    /// The path that `file` states under `key`. Paths out of the model's folder are refused.
    pub(crate) fn own_path(
        &self,
        file: &str,
        key: &'static str,
        stated: &str,
    ) -> Result<PathBuf, LocalError> {
        let mut parts = Path::new(stated).components();
        if parts.all(|part| matches!(part, Component::Normal(_))) {
            Ok(self.path.join(stated))
        } else {
            Err(self.unsupported(file, key, stated))
        }
    }

    /// The bytes of a file, `None` if it does not exist.
    pub(crate) fn bytes(&self, file: &str) -> Result<Option<Vec<u8>>, LocalError> {
        let path = self.path(file);
        match read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(source) if source.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(LocalError::Read { path, source }),
        }
    }

    /// The names of the files in a subfolder that have this extension, sorted; none if the subfolder does not exist.
    pub(crate) fn file_names(
        &self,
        subfolder: &str,
        extension: &str,
    ) -> Result<Vec<String>, LocalError> {
        let path = self.path(subfolder);
        if !path.is_dir() {
            return Ok(Vec::new());
        }
        let names = file_names(&path, extension);
        names.map_err(|source| LocalError::Read { path, source })
    }

    /// A JSON file, `None` if it does not exist.
    pub(crate) fn json<T: DeserializeOwned>(&self, file: &str) -> Result<Option<T>, LocalError> {
        let Some(bytes) = self.bytes(file)? else {
            return Ok(None);
        };
        let parsed = serde_json::from_slice(&bytes);
        parsed.map(Some).map_err(|source| LocalError::Json {
            path: self.path(file),
            source,
        })
    }

    /// A JSON file that every model has.
    pub(crate) fn required<T: DeserializeOwned>(
        &self,
        file: &'static str,
    ) -> Result<T, LocalError> {
        self.json(file)?.ok_or_else(|| self.missing(file))
    }

    /// The error for a file that does not exist.
    pub(crate) fn missing(&self, file: &'static str) -> LocalError {
        LocalError::Missing {
            folder: self.path.clone(),
            file,
        }
    }

    /// The error for a value that this engine cannot run.
    pub(crate) fn unsupported(
        &self,
        file: &str,
        key: &'static str,
        value: impl Into<String>,
    ) -> LocalError {
        LocalError::Unsupported {
            path: self.path(file),
            key,
            value: value.into(),
        }
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, _) = regular_file::open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn file_names(folder: &Path, extension: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|found| found == extension) {
            names.extend(
                path.file_name()
                    .and_then(|name| name.to_str())
                    .map(ToOwned::to_owned),
            );
        }
    }
    names.sort_unstable();
    Ok(names)
}
