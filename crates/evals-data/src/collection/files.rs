//! From a manifest's sources to verified files on disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use evals_guard::regular_file;

use crate::catalog::{self, bundled};
use crate::error::DataError;
use crate::format;
use crate::hub::{
    DownloadObserver, Expected, Globs, Hub, HubError, HubFiles, HubWarning, Identity, Repository,
    files_below, sha256, verify,
};
use crate::manifest::{Manifest, Source};
use crate::provenance::FileProvenance;
use crate::reader::{Content, TableFile};

/// A table's files with their digests.
#[derive(Debug, Clone)]
pub(super) struct TableFiles {
    pub(super) commit: Option<String>,
    pub(super) files: Vec<TableFile>,
    pub(super) identities: Vec<FileProvenance>,
}

/// The files fetched for one dataset. Each repository and revision is resolved once, however many tables use it.
pub(super) struct Fetched {
    repositories: BTreeMap<(String, String), HubFiles>,
    pub(super) warnings: Vec<HubWarning>,
}

impl Fetched {
    pub(super) async fn new(
        manifest: &Manifest,
        hub: &Hub,
        observer: &dyn DownloadObserver,
    ) -> Result<Self, DataError> {
        let mut wanted: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for source in manifest.sources() {
            if let Source::Hub {
                repo,
                revision,
                files,
            } = source
            {
                let globs = wanted.entry((repo.clone(), revision.clone())).or_default();
                globs.extend(
                    files
                        .iter()
                        .filter(|glob| !globs.contains(glob))
                        .cloned()
                        .collect::<Vec<_>>(),
                );
            }
        }
        let mut fetched = Self {
            repositories: BTreeMap::new(),
            warnings: Vec::new(),
        };
        for ((repo, revision), globs) in wanted {
            let failed = |source| hub_error(manifest, source);
            let mut files = hub
                .fetch(&Repository::dataset(&repo), &revision, &globs, observer)
                .await
                .map_err(failed)?;
            fetched.warnings.append(&mut files.warnings);
            fetched.repositories.insert((repo, revision), files);
        }
        Ok(fetched)
    }

    /// The files of one table.
    pub(super) fn table(&self, source: &Source) -> Result<TableFiles, DataError> {
        match source {
            Source::Hub {
                repo,
                revision,
                files,
            } => Ok(self.on_hub(repo, revision, files)),
            Source::Path { path, files } => on_disk(path, files),
            Source::Bundled { name } => in_bundle(name),
        }
    }

    fn on_hub(&self, repo: &str, revision: &str, globs: &[String]) -> TableFiles {
        let fetched = &self.repositories[&(repo.to_owned(), revision.to_owned())];
        let globs = Globs::new(globs.iter().map(String::as_str))
            .expect("the hub compiled these globs before");
        let mut table = TableFiles {
            commit: Some(fetched.commit.clone()),
            files: Vec::new(),
            identities: Vec::new(),
        };
        for file in fetched
            .files
            .iter()
            .filter(|file| globs.matches(&file.path))
        {
            table.files.push(TableFile {
                name: file.path.clone(),
                uri: file.path.clone(),
                content: Content::Cached(file.local.clone()),
            });
            let identity = Identity {
                size: file.size,
                sha256: file.sha256.clone(),
            };
            table
                .identities
                .push(provenance(file.path.clone(), identity));
        }
        table
    }
}

fn hub_error(manifest: &Manifest, source: HubError) -> DataError {
    let nearest = match &source {
        HubError::RepositoryNotFound { .. }
        | HubError::Unauthorized { .. }
        | HubError::NotCached { .. } => catalog::nearest_beir(&manifest.name),
        _ => Vec::new(),
    };
    DataError::Hub {
        dataset: manifest.name.clone(),
        nearest,
        source: Box::new(source),
    }
}

fn on_disk(path: &Path, globs: &[String]) -> Result<TableFiles, DataError> {
    if !path.is_dir() {
        if path.exists() && !globs.is_empty() {
            return Err(DataError::FilesOfFile {
                path: path.to_owned(),
            });
        }
        // The name alone, so that the same file has one provenance however its path is written.
        let recorded = path.file_name().unwrap_or(path.as_os_str());
        return local_files([LocalFile {
            name: path.display().to_string(),
            recorded: recorded.to_string_lossy().into_owned(),
            path: path.to_owned(),
        }]);
    }
    if globs.is_empty() {
        return Err(DataError::Folder {
            path: path.to_owned(),
        });
    }
    let unreadable = |source| DataError::Unreadable {
        file: path.display().to_string(),
        source,
    };
    let compiled =
        Globs::new(globs.iter().map(String::as_str)).map_err(|source| DataError::Glob {
            path: path.to_owned(),
            source,
        })?;
    let mut present = files_below(path).map_err(unreadable)?;
    present.retain(|file| !is_hidden_text(file));
    if let Some(glob) = compiled.first_without_match(&present) {
        return Err(DataError::NoFile {
            path: path.join(glob),
        });
    }
    let matching = present.into_iter().filter(|file| compiled.matches(file));
    local_files(matching.map(|file| LocalFile {
        path: path.join(&file),
        recorded: file.clone(),
        name: file,
    }))
}

/// Whether a file is a text in a hidden folder or with a hidden name. Tools keep copies and notes there, which nobody means by
/// `**/*.md`.
fn is_hidden_text(path: &str) -> bool {
    format::is_text(path) && path.split('/').any(|part| part.starts_with('.'))
}

/// A file of the user's own.
struct LocalFile {
    /// Its name in messages.
    name: String,
    /// Its name in the provenance.
    recorded: String,
    path: PathBuf,
}

fn local_files(found: impl IntoIterator<Item = LocalFile>) -> Result<TableFiles, DataError> {
    let mut table = TableFiles {
        commit: None,
        files: Vec::new(),
        identities: Vec::new(),
    };
    for LocalFile {
        name,
        recorded,
        path,
    } in found
    {
        if !path.exists() {
            return Err(DataError::NoFile { path });
        }
        if let Some(kind) = path
            .metadata()
            .ok()
            .as_ref()
            .and_then(regular_file::other_kind)
        {
            return Err(DataError::NotAFile { path, kind });
        }
        let identity =
            verify(&path, &name, &Expected::default()).map_err(|damage| DataError::Damaged {
                file: name.clone(),
                damage,
            })?;
        table.files.push(TableFile {
            name,
            uri: recorded.clone(),
            content: Content::OnDisk(path),
        });
        table.identities.push(provenance(recorded, identity));
    }
    Ok(table)
}

fn in_bundle(name: &str) -> Result<TableFiles, DataError> {
    let bytes = bundled::file(name).ok_or_else(|| DataError::NoFile { path: name.into() })?;
    let identity = Identity {
        size: bytes.len() as u64,
        sha256: sha256(bytes),
    };
    Ok(TableFiles {
        commit: None,
        files: vec![TableFile {
            name: name.to_owned(),
            uri: name.to_owned(),
            content: Content::InMemory(Bytes::from_static(bytes)),
        }],
        identities: vec![provenance(name.to_owned(), identity)],
    })
}

fn provenance(path: String, identity: Identity) -> FileProvenance {
    FileProvenance {
        path,
        size: identity.size,
        sha256: identity.sha256,
    }
}
