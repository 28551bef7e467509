//! Reading the YAML sources of the samples.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::error::SampleError;

/// The entries of all YAML files in a folder whose names start with `prefix`, in the order of the names.
pub(crate) fn read_all<T: DeserializeOwned>(
    folder: &Path,
    prefix: &str,
) -> Result<Vec<T>, SampleError> {
    let mut entries = Vec::new();
    for path in yaml_files(folder, prefix)? {
        let text = std::fs::read_to_string(&path).map_err(|source| SampleError::File {
            path: path.clone(),
            source,
        })?;
        let read: Vec<T> = serde_saphyr::from_str(&text).map_err(|source| SampleError::Yaml {
            path: path.clone(),
            source: Box::new(source),
        })?;
        entries.extend(read);
    }
    Ok(entries)
}

fn yaml_files(folder: &Path, prefix: &str) -> Result<Vec<PathBuf>, SampleError> {
    let unreadable = |source| SampleError::File {
        path: folder.to_owned(),
        source,
    };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let is_yaml = path
            .extension()
            .is_some_and(|extension| extension == "yaml");
        let begins = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(prefix));
        if is_yaml && begins {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
