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
use crate::reader::{FileContent, TableFile};

/// A table's files with their digests.
#[derive(Debug, Clone, Default)]
pub(super) struct TableFiles {
    pub(super) commit: Option<String>,
    pub(super) files: Vec<TableFile>,
    pub(super) identities: Vec<FileProvenance>,
}

impl TableFiles {
    /// Adds a file: its name in messages, its path as the provenance records it, and its content with size and digest.
    fn push(&mut self, name: String, uri: String, content: FileContent, identity: Identity) {
        self.identities.push(FileProvenance {
            path: uri.clone(),
            size: identity.size,
            sha256: identity.sha256,
        });
        self.files.push(TableFile { name, uri, content });
    }
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
                for glob in files {
                    if !globs.contains(glob) {
                        globs.push(glob.clone());
                    }
                }
            }
        }
        let mut fetched = Self {
            repositories: BTreeMap::new(),
            warnings: Vec::new(),
        };
        for ((repo, revision), globs) in wanted {
            let repository = Repository::dataset(&repo);
            let files = hub.fetch(&repository, &revision, &globs, observer).await;
            let mut files = files.map_err(|source| hub_error(manifest, source))?;
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
            Source::Nothing => Ok(TableFiles::default()),
        }
    }

    fn on_hub(&self, repo: &str, revision: &str, globs: &[String]) -> TableFiles {
        let fetched = &self.repositories[&(repo.to_owned(), revision.to_owned())];
        let globs = Globs::new(globs).expect("the hub compiled these globs before");
        let mut table = TableFiles {
            commit: Some(fetched.commit.clone()),
            ..TableFiles::default()
        };
        let files = fetched.files.iter();
        for file in files.filter(|file| globs.matches(&file.path)) {
            let identity = Identity {
                size: file.size,
                sha256: file.sha256.clone(),
            };
            let content = FileContent::Cached(file.local.clone());
            table.push(file.path.clone(), file.path.clone(), content, identity);
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
    let mut table = TableFiles::default();
    let named = path.display().to_string();
    if !path.is_dir() {
        if path.exists() && !globs.is_empty() {
            let problem = "is a file, but `files` names files in a folder: remove `files`";
            return Err(DataError::file(named, problem));
        }
        // The name alone, so that the same file has one provenance however its path is written.
        let recorded = path.file_name().unwrap_or(path.as_os_str());
        let recorded = recorded.to_string_lossy().into_owned();
        add_local(&mut table, named.clone(), recorded, path.to_owned())?;
        return Ok(table);
    }
    if globs.is_empty() {
        let problem = "is a folder: name its files with `files: [\"*.parquet\"]`";
        return Err(DataError::file(named, problem));
    }
    let globs = Globs::new(globs)
        .map_err(|error| DataError::file(&named, format!("is searched for {error}")))?;
    let present = files_below(path).map_err(|(path, source)| DataError::Unreadable {
        file: path.display().to_string(),
        source,
    })?;
    let present: Vec<String> = present
        .into_iter()
        .filter(|file| !is_hidden_text(file))
        .collect();
    if let Some(glob) = globs.first_without_match(&present) {
        return Err(DataError::NoFile {
            path: path.join(glob),
        });
    }
    for file in present.into_iter().filter(|file| globs.matches(file)) {
        let local = path.join(&file);
        add_local(&mut table, file.clone(), file, local)?;
    }
    Ok(table)
}

/// Whether a file is a text in a hidden folder or with a hidden name. Tools keep copies and notes there, which nobody means by
/// `**/*.md`.
fn is_hidden_text(path: &str) -> bool {
    format::is_text(path) && path.split('/').any(|part| part.starts_with('.'))
}

/// Adds a file of the user's own.
fn add_local(
    table: &mut TableFiles,
    name: String,
    recorded: String,
    path: PathBuf,
) -> Result<(), DataError> {
    if !path.exists() {
        return Err(DataError::NoFile { path });
    }
    let metadata = path.metadata().ok();
    if let Some(kind) = metadata.as_ref().and_then(regular_file::other_kind) {
        let problem = format!(
            "is {kind}; a dataset must consist of regular files, which are read more than once"
        );
        return Err(DataError::file(path.display(), problem));
    }
    let identity =
        verify(&path, &name, &Expected::default()).map_err(|damage| DataError::Damaged {
            file: name.clone(),
            damage,
        })?;
    table.push(name, recorded, FileContent::OnDisk(path), identity);
    Ok(())
}

fn in_bundle(name: &str) -> Result<TableFiles, DataError> {
    let bytes = bundled::file(name).ok_or_else(|| DataError::NoFile { path: name.into() })?;
    let identity = Identity {
        size: bytes.len() as u64,
        sha256: sha256(bytes),
    };
    let mut table = TableFiles::default();
    let content = FileContent::InMemory(Bytes::from_static(bytes));
    table.push(name.to_owned(), name.to_owned(), content, identity);
    Ok(table)
}
