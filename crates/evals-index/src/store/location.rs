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
            Some((scheme, rest)) => {
                check_scheme(uri, scheme, rest)?;
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

    /// Whether the store is an object store. A store in memory is not, because no other process sees it.
    pub(crate) fn is_bucket(&self) -> bool {
        matches!(self, Self::Url(uri) if !uri.starts_with(MEMORY))
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

/// The scheme of a store in memory.
const MEMORY: &str = "memory://";

/// Refuses parts of an address that the engine would interpret differently, or that would show a password in messages.
fn check_bucket(rest: &str) -> Result<(), IndexError> {
    let problem = |what| {
        let form = "`s3://bucket/prefix`, `az://container/prefix` or `gs://bucket/prefix`";
        let problem = format!("the address of an object store is {form}, {what}");
        Err(IndexError::Location { problem })
    };
    if rest.contains('@') {
        return problem(
            "without a user name or password: keys come from the environment or from `store` in the settings",
        );
    }
    if rest.contains(['?', '#']) {
        return problem(
            "without `?` and `#`: options come from the environment or from `store` in the settings",
        );
    }
    let bucket = rest.split('/').next().unwrap_or_default();
    if bucket.is_empty() {
        return problem("with the name of a bucket");
    }
    // If the bucket is not valid as the host of a URL, the engine treats the address as a folder.
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
    if !bucket.bytes().all(is_allowed) {
        return problem("with a bucket's name of letters, digits, `.`, `-` and `_`");
    }
    if rest.contains("//") {
        return problem("without `//` after the bucket");
    }
    if rest.split('/').any(|part| part == "." || part == "..") {
        return problem("without `.` and `..`");
    }
    Ok(())
}

fn check_scheme(uri: &str, scheme: &str, rest: &str) -> Result<(), IndexError> {
    let uri = uri.to_owned();
    match scheme {
        "memory" => Ok(()),
        "s3" | "az" | "gs" if cfg!(feature = "stores") => check_bucket(rest),
        "s3" | "az" | "gs" => Err(IndexError::WithoutStores { uri }),
        _ => Err(IndexError::Location {
            problem: format!(
                "an index cannot be at `{uri}`; use a folder, `s3://…`, `az://…` or `gs://…`"
            ),
        }),
    }
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

    #[cfg(not(feature = "stores"))]
    #[test]
    fn an_object_store_needs_a_program_with_stores() {
        let message = |uri| Location::parse(uri).unwrap_err().to_string();
        for uri in ["s3://bucket/a", "az://container/a", "gs://bucket/a"] {
            assert_eq!(
                message(uri),
                format!("`{uri}` is in an object store, and this program was built without them")
            );
        }
    }

    #[cfg(feature = "stores")]
    #[test]
    fn an_address_that_the_engine_would_take_for_a_folder_is_refused() {
        for uri in [
            "s3://my bucket/a",
            "az://my container/a",
            "s3://bücket/a",
            "s3://bucket//a",
        ] {
            let refused = Location::parse(uri);
            assert!(matches!(refused, Err(IndexError::Location { .. })), "{uri}");
        }
        for uri in ["s3://my-bucket.x_1/a b/ä", "gs://bucket", "az://container/"] {
            assert_eq!(Location::parse(uri).unwrap().uri(), uri);
        }
    }

    #[test]
    fn other_schemes_are_refused() {
        for uri in ["db://name", "http://host/a"] {
            let message = Location::parse(uri).unwrap_err().to_string();
            assert_eq!(
                message,
                format!(
                    "an index cannot be at `{uri}`; use a folder, `s3://…`, `az://…` or `gs://…`"
                )
            );
        }
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
