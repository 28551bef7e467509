//! A model's folder: its files, its `modules.json`, and errors that name it.

mod modules;
mod open;

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek};
use std::path::{Component, Path, PathBuf};

use evals_guard::regular_file::other_kind;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::LocalError;

pub(crate) use modules::{Module, modules};

/// The beginning of the file that git leaves in place of one that Git LFS has not fetched.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// The folder of one model, as the hub lays it out.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
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
            Err(source) => Err(LocalError::read(&path, source)),
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
        names.map_err(|source| LocalError::read(&path, source))
    }

    /// A JSON file, `None` if it does not exist.
    pub(crate) fn json<T: DeserializeOwned>(&self, file: &str) -> Result<Option<T>, LocalError> {
        let Some(bytes) = self.bytes(file)? else {
            return Ok(None);
        };
        let parsed = serde_json::from_slice(&bytes);
        parsed.map(Some).map_err(|source| LocalError::Content {
            path: self.path(file),
            fault: "is not the JSON that describes a model",
            source: Box::new(source),
        })
    }

    /// A JSON file that every model has.
    pub(crate) fn required<T: DeserializeOwned>(
        &self,
        file: &'static str,
    ) -> Result<T, LocalError> {
        self.json(file)?.ok_or_else(|| self.missing(file))
    }

    /// Refuses a JSON file that states, under one of these keys, another value than those beside it, which are what this engine can
    /// run. The key of an inner object is written with dots. A key that is absent or `null` is fine.
    pub(crate) fn permit(
        &self,
        file: &str,
        permitted: &[(&'static str, &[&str])],
    ) -> Result<(), LocalError> {
        let stated: Value = self.json(file)?.unwrap_or_default();
        for (key, permitted) in permitted {
            let mut parts = key.split('.');
            let value = match parts.try_fold(&stated, |value, part| value.get(part)) {
                None | Some(Value::Null) => continue,
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
            };
            if !permitted.contains(&value.as_str()) {
                return Err(self.unsupported(file, key, value));
            }
        }
        Ok(())
    }

    /// The error for a file that does not exist.
    pub(crate) fn missing(&self, file: &'static str) -> LocalError {
        self.refused(format!("has no `{file}`"))
    }

    /// The error for a folder that holds no model, or not one of the kind that was asked for.
    pub(crate) fn refused(&self, reason: impl Into<String>) -> LocalError {
        LocalError::Unusable {
            path: self.path.clone(),
            reason: reason.into(),
        }
    }

    /// The error for a file that shows that the model cannot be run.
    pub(crate) fn unusable(&self, file: &str, reason: impl Into<String>) -> LocalError {
        LocalError::Unusable {
            path: self.path(file),
            reason: reason.into(),
        }
    }

    /// The error for a tokenizer that cannot be loaded, or fails.
    pub(crate) fn tokenizer_error(&self, source: Box<dyn Error + Send + Sync>) -> LocalError {
        LocalError::Content {
            path: self.path("tokenizer.json"),
            fault: "is not a usable tokenizer",
            source,
        }
    }

    /// The error for a value that this engine cannot run.
    pub(crate) fn unsupported(
        &self,
        file: &str,
        key: &str,
        value: impl Into<String>,
    ) -> LocalError {
        let value = value.into();
        self.unusable(
            file,
            format!("sets `{key}` to `{value}`, which is not supported"),
        )
    }
}

/// Opens a file and returns its length too. Pipes and devices are refused, because reading them may never end.
pub(crate) fn open_file(path: &Path) -> io::Result<(File, u64)> {
    let metadata = fs::metadata(path)?;
    if let Some(found) = other_kind(&metadata) {
        return Err(io::Error::other(format!("it is {found}, not a file")));
    }
    let mut file = File::open(path)?;
    let mut beginning = Vec::new();
    file.by_ref()
        .take(POINTER.len() as u64)
        .read_to_end(&mut beginning)?;
    if beginning == POINTER {
        return Err(io::Error::other(
            "it is a Git LFS pointer, not the file itself; fetch the file with `git lfs pull`",
        ));
    }
    file.rewind()?;
    Ok((file, metadata.len()))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let (mut file, _) = open_file(path)?;
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
