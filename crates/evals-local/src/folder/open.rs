//! Opening a model's folder, or a repository in the hub's cache.

use std::fs;
use std::path::{Path, PathBuf};

use super::Folder;
use super::modules;
use crate::error::LocalError;

/// Hexadecimal digits of a commit's SHA-1.
const COMMIT: usize = 40;

impl Folder {
    /// Opens a folder with a `config.json`, or the `main` revision of a repository in the hub's cache (`models--owner--name`).
    pub(crate) fn open(path: &Path) -> Result<Self, LocalError> {
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
}

fn main_snapshot(repository: &Path, reference: PathBuf) -> Result<PathBuf, LocalError> {
    let found = fs::read_to_string(&reference);
    let found = found.map_err(|source| LocalError::read(&reference, source))?;
    let found = found.trim();
    if found.len() == COMMIT && found.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        Ok(repository.join("snapshots").join(found))
    } else {
        Err(LocalError::Unusable {
            reason: format!("names `{found}`, which is not a commit of 40 hexadecimal digits"),
            path: reference,
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
