use std::error::Error;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use serde::de::DeserializeOwned;

use super::error::LocalError;
use super::modules;
use super::regular_file;

/// The files of one model, as the hub lays them out.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    name: String,
}

impl Folder {
    /// Takes a folder with a `config.json`, or a repository in the hub's cache (`models--owner--name`), whose `main` is used.
    pub(super) fn open(path: &Path) -> Result<Self, LocalError> {
        let reference = path.join("refs/main");
        let is_repository = !path.join("config.json").is_file() && reference.is_file();
        let folder = Self {
            path: if is_repository {
                main_snapshot(path, reference)?
            } else {
                path.to_owned()
            },
            name: name(path),
        };
        if folder.path.is_dir() {
            modules::check_encoder(&folder)?;
        }
        if folder.path("config.json").is_file() {
            Ok(folder)
        } else {
            Err(folder.missing("config.json"))
        }
    }

    /// What the model is called: `owner/name` in the hub's cache, else the name of the folder.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where a file of this name is or would be.
    pub(super) fn path(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// The folder of one of the model's modules, as `modules.json` names it.
    pub(super) fn inside(&self, path: &str) -> Result<Self, LocalError> {
        Ok(Self {
            path: self.own("modules.json", "path", path)?,
            name: self.name.clone(),
        })
    }

    /// Where `name`, which stands under `key` in `file`, is: in the model's folder. A model names nothing outside of it.
    pub(super) fn own(
        &self,
        file: &str,
        key: &'static str,
        name: &str,
    ) -> Result<PathBuf, LocalError> {
        let mut parts = Path::new(name).components();
        if parts.all(|part| matches!(part, Component::Normal(_))) {
            Ok(self.path.join(name))
        } else {
            Err(self.unsupported(file, key, name))
        }
    }

    /// The bytes of a file, `None` when there is none.
    pub(super) fn bytes(&self, file: &str) -> Result<Option<Vec<u8>>, LocalError> {
        let path = self.path(file);
        match read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(source) if source.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(LocalError::Read { path, source }),
        }
    }

    /// The names of the files with this extension in a folder of the model's own, in order; none where there is no such folder.
    pub(super) fn names(&self, inside: &str, extension: &str) -> Result<Vec<String>, LocalError> {
        let path = self.path(inside);
        if !path.is_dir() {
            return Ok(Vec::new());
        }
        let names = names(&path, extension);
        names.map_err(|source| LocalError::Read { path, source })
    }

    /// A file of JSON, `None` when there is none.
    pub(super) fn json<T: DeserializeOwned>(&self, file: &str) -> Result<Option<T>, LocalError> {
        let Some(bytes) = self.bytes(file)? else {
            return Ok(None);
        };
        let parsed = serde_json::from_slice(&bytes);
        parsed.map(Some).map_err(|source| LocalError::Json {
            path: self.path(file),
            source,
        })
    }

    /// A file of JSON without which there is no model.
    pub(super) fn required<T: DeserializeOwned>(
        &self,
        file: &'static str,
    ) -> Result<T, LocalError> {
        self.json(file)?.ok_or_else(|| self.missing(file))
    }

    /// The error that says which file is not there.
    pub(super) fn missing(&self, file: &'static str) -> LocalError {
        LocalError::Missing {
            folder: self.path.clone(),
            file,
        }
    }

    /// The error that says what else the model is for.
    pub(super) fn late_interaction(&self) -> LocalError {
        LocalError::LateInteraction {
            folder: self.path.clone(),
        }
    }

    /// The error that says which files weights could be in.
    pub(super) fn no_weights(&self) -> LocalError {
        LocalError::NoWeights {
            folder: self.path.clone(),
        }
    }

    /// The error that says what else a classifier is for.
    pub(super) fn classifier(&self, architecture: String) -> LocalError {
        LocalError::Classifier {
            folder: self.path.clone(),
            architecture,
        }
    }

    /// The error that says what shows that the model does nothing but rerank.
    pub(super) fn reranker(&self, sign: impl Into<String>) -> LocalError {
        LocalError::Reranker {
            folder: self.path.clone(),
            sign: sign.into(),
        }
    }

    /// The error that says what shows that the model does not rerank.
    pub(super) fn no_reranker(&self, reason: impl Into<String>) -> LocalError {
        LocalError::NoReranker {
            folder: self.path.clone(),
            reason: reason.into(),
        }
    }

    /// The error that says which setting would have no effect.
    pub(super) fn unread(&self, setting: &'static str) -> LocalError {
        LocalError::UnreadSetting {
            folder: self.path.clone(),
            setting,
        }
    }

    /// The error that says why the tokenizer is of no use.
    pub(super) fn unusable_tokenizer(&self, source: Box<dyn Error + Send + Sync>) -> LocalError {
        LocalError::Tokenizer {
            path: self.path("tokenizer.json"),
            source,
        }
    }

    /// The error for a value that asks for what cannot be run.
    pub(super) fn unsupported(
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

fn names(folder: &Path, extension: &str) -> io::Result<Vec<String>> {
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

/// Digits of a commit, which is the SHA-1 of its content.
const COMMIT: usize = 40;

fn main_snapshot(repository: &Path, reference: PathBuf) -> Result<PathBuf, LocalError> {
    let found = match fs::read_to_string(&reference) {
        Ok(found) => found.trim().to_owned(),
        Err(source) => {
            return Err(LocalError::Read {
                path: reference,
                source,
            });
        }
    };
    if found.len() == COMMIT && found.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        Ok(repository.join("snapshots").join(found))
    } else {
        Err(LocalError::Commit {
            path: reference,
            found,
        })
    }
}

fn name(path: &Path) -> String {
    let parts = path.iter().rev().filter_map(|part| part.to_str());
    let repository = parts.clone().find_map(|part| part.strip_prefix("models--"));
    match repository {
        Some(repository) => repository.replacen("--", "/", 1),
        None => parts.into_iter().next().unwrap_or("model").to_owned(),
    }
}
