//! Where a store is: a folder or a URL.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{self, Path, PathBuf};

use crate::error::IndexError;

/// The location of a store, in a form that the engine reads as intended.
///
/// The engine takes every location that starts with `db` for an address in its cloud, so `dbs/scifact.lancedb` has to become an
/// absolute path first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Location {
    Folder { path: PathBuf, uri: String },
    Url(String),
}

impl Location {
    pub(crate) fn parse(uri: &str) -> Result<Self, IndexError> {
        if let Some(path) = uri.strip_prefix("file://") {
            return Self::folder_at(Path::new(path));
        }
        match uri.split_once("://") {
            Some((scheme, _)) => {
                require_feature(uri, scheme)?;
                Ok(Self::Url(uri.to_owned()))
            }
            None => Self::folder_at(Path::new(uri)),
        }
    }

    pub(crate) fn uri(&self) -> &str {
        match self {
            Self::Folder { uri, .. } | Self::Url(uri) => uri,
        }
    }

    /// The folder of a local store.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder { path, .. } => Some(path),
            Self::Url(_) => None,
        }
    }

    /// Whether the store exists. A folder may be missing; whether a URL leads anywhere is left to the engine.
    pub(crate) fn exists(&self) -> Result<bool, IndexError> {
        let Self::Folder { path, .. } = self else {
            return Ok(true);
        };
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Ok(true),
            Ok(_) => Err(unusable(path, ErrorKind::NotADirectory.into())),
            Err(source) if source.kind() == ErrorKind::NotFound => Ok(false),
            Err(source) => Err(unusable(path, source)),
        }
    }

    /// Creates the folder of a local store, and its parents, if they are missing.
    pub(crate) fn create(&self) -> Result<(), IndexError> {
        match self {
            Self::Folder { path, .. } => {
                fs::create_dir_all(path).map_err(|source| unusable(path, source))
            }
            Self::Url(_) => Ok(()),
        }
    }

    fn folder_at(path: &Path) -> Result<Self, IndexError> {
        let absolute = path::absolute(path).map_err(|source| unusable(path, source))?;
        let uri = absolute.to_string_lossy().into_owned();
        Ok(Self::Folder {
            path: absolute,
            uri,
        })
    }
}

fn unusable(path: &Path, source: io::Error) -> IndexError {
    IndexError::Folder {
        path: path.to_owned(),
        source,
    }
}

fn require_feature(uri: &str, scheme: &str) -> Result<(), IndexError> {
    let (feature, present) = match scheme {
        "s3" => ("aws", cfg!(feature = "aws")),
        "db" => ("remote", cfg!(feature = "remote")),
        _ => return Ok(()),
    };
    if present {
        return Ok(());
    }
    Err(IndexError::Scheme {
        uri: uri.to_owned(),
        feature,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_become_absolute() {
        let folder = tempfile::tempdir().unwrap();
        let nested = folder.path().join("db/run");
        let location = Location::parse(nested.to_str().unwrap()).unwrap();
        assert_eq!(location.folder(), Some(nested.as_path()));
        let url = format!("file://{}", nested.display());
        assert_eq!(Location::parse(&url).unwrap(), location);
        assert!(Location::parse(".").unwrap().uri().starts_with('/'));
    }

    #[cfg(not(any(feature = "aws", feature = "remote")))]
    #[test]
    fn schemes_name_the_feature_they_need() {
        let message = |uri| Location::parse(uri).unwrap_err().to_string();
        assert_eq!(
            message("s3://bucket/a"),
            "`s3://bucket/a` needs a binary built with the cargo feature `aws`"
        );
        assert_eq!(
            message("db://name"),
            "`db://name` needs a binary built with the cargo feature `remote`"
        );
    }

    #[test]
    fn a_folder_is_created_on_request_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let nested = folder.path().join("db/run");
        let location = Location::parse(nested.to_str().unwrap()).unwrap();
        assert!(!location.exists().unwrap());
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        location.create().unwrap();
        assert!(location.exists().unwrap());
        assert!(nested.is_dir());
        assert!(Location::parse("memory://").unwrap().exists().unwrap());
    }

    #[test]
    fn a_file_is_not_a_folder() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().to_str().unwrap();
        let location = Location::parse(path).unwrap();
        for error in [
            location.exists().unwrap_err(),
            location.create().unwrap_err(),
        ] {
            assert_eq!(
                error.to_string(),
                format!("cannot use `{path}` as the folder of an index")
            );
        }
    }
}
