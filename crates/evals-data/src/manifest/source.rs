//! Where a manifest and its tables come from.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Where a manifest was read from. Relative paths in it start there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file on disk.
    File(PathBuf),
    /// A manifest inside this crate; its paths name bundled files.
    Bundled(String),
    /// A manifest from memory; its paths start at the working directory.
    Memory,
}

impl Origin {
    pub(crate) fn folder(&self) -> &Path {
        match self {
            Self::File(path) => path.parent().unwrap_or_else(|| Path::new("")),
            Self::Bundled(_) | Self::Memory => Path::new(""),
        }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path) => write!(formatter, "{}", path.display()),
            Self::Bundled(name) => write!(formatter, "bundled dataset {name}"),
            Self::Memory => formatter.write_str("manifest"),
        }
    }
}

/// The files of one table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Files of a dataset repository on the hub.
    Hub {
        /// `owner/name`.
        repo: String,
        /// A branch, a tag, a commit or a ref such as `refs/convert/parquet`.
        revision: String,
        /// Globs over the repository's paths; `*` stays within a folder, `**` crosses folders.
        files: Vec<String>,
    },
    /// A file on disk, or a folder and globs in it.
    Path {
        /// Absolute, or relative to the working directory.
        path: PathBuf,
        /// Globs over the folder's paths; empty for a single file.
        files: Vec<String>,
    },
    /// A file inside this crate.
    Bundled {
        /// Its name.
        name: String,
    },
    /// No files: the dataset has no such table.
    Nothing,
}

/// A `source:` entry as written. A table's entry inherits missing keys from the manifest's own.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenSource {
    pub(super) repo: Option<String>,
    pub(super) revision: Option<String>,
    pub(super) path: Option<PathBuf>,
    #[serde(default, deserialize_with = "super::column::one_or_many")]
    pub(super) files: Vec<String>,
}

impl WrittenSource {
    fn inherit(self, parent: Option<&Self>) -> Self {
        let has_place = self.repo.is_some() || self.path.is_some();
        let Some(parent) = parent.filter(|_| !has_place) else {
            return self;
        };
        Self {
            repo: parent.repo.clone(),
            path: parent.path.clone(),
            revision: self.revision.or_else(|| parent.revision.clone()),
            files: if self.files.is_empty() {
                parent.files.clone()
            } else {
                self.files
            },
        }
    }

    /// The table's source; `Err` is its defect.
    pub(super) fn resolve(self, parent: Option<&Self>, origin: &Origin) -> Result<Source, String> {
        let whole = self.inherit(parent);
        match (whole.repo, whole.path) {
            (None, None) => Err("a source needs `repo` or `path`".to_owned()),
            (Some(_), Some(_)) => Err("a source has `repo` or `path`, not both".to_owned()),
            (Some(repo), None) => hub_source(repo, whole.revision, whole.files),
            (None, Some(_)) if whole.revision.is_some() => {
                Err("`revision` belongs to a `repo`, not to a `path`".to_owned())
            }
            (None, Some(path)) => local_source(&path, whole.files, origin),
        }
    }
}

fn hub_source(
    repo: String,
    revision: Option<String>,
    files: Vec<String>,
) -> Result<Source, String> {
    let parts: Vec<&str> = repo.split('/').collect();
    if parts.len() != 2 || parts.iter().any(|part| part.is_empty()) {
        return Err(format!("`repo: {repo}` is not of the form `owner/name`"));
    }
    if files.is_empty() {
        return Err(
            "a `repo` needs `files`: one or more globs such as `data/*.parquet`".to_owned(),
        );
    }
    check_globs(&files)?;
    Ok(Source::Hub {
        repo,
        revision: revision.unwrap_or_else(|| "main".to_owned()),
        files,
    })
}

fn check_globs(files: &[String]) -> Result<(), String> {
    let mut globs = files.iter().map(|glob| globset::Glob::new(glob));
    let checked = globs.try_for_each(|glob| glob.map(drop));
    checked.map_err(|error| error.to_string())
}

fn local_source(path: &Path, files: Vec<String>, origin: &Origin) -> Result<Source, String> {
    check_globs(&files)?;
    Ok(match origin {
        Origin::Bundled(_) => Source::Bundled {
            name: path.display().to_string(),
        },
        Origin::File(_) | Origin::Memory => Source::Path {
            path: origin.folder().join(path),
            files,
        },
    })
}
