//! Finding a dataset by name.

mod beir;
mod bright;
pub(crate) mod bundled;
mod nano_beir;

use std::path::{Path, PathBuf};

use evals_messages::nearest;
use thiserror::Error;

use crate::manifest::{Manifest, ManifestError, Origin};

/// The datasets with a name: manifests in the user's folders, the bundled ones, and the families `beir:<name>`, `nanobeir:<name>`
/// and `bright:<subject>`.
///
/// ```
/// use evals_data::Catalog;
///
/// let catalog = Catalog::new(["./datasets"]);
/// assert_eq!(catalog.find("beir:scifact")?.retrieval.limit.get(), 100);
///
/// let unknown = catalog.find("wixx").unwrap_err();
/// assert!(unknown.to_string().starts_with("unknown dataset `wixx`; did you mean `wix`"));
/// # Ok::<(), evals_data::CatalogError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Catalog {
    folders: Vec<PathBuf>,
}

/// Why a name does not lead to a dataset.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// No manifest has that name.
    #[error("unknown dataset `{name}`{}", nearest::did_you_mean(nearest))]
    Unknown {
        /// The name asked for.
        name: String,
        /// Similar names, most similar first; may be empty.
        nearest: Vec<String>,
    },
    /// The name is a folder's, and the folder is not a dataset.
    #[error("the folder `{}` is not a dataset, because it has no `{}`, the manifest, which says where documents and questions are", folder.display(), Manifest::FILE)]
    Folder {
        /// The folder.
        folder: PathBuf,
    },
    /// The manifest of that name is not usable.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
}

impl Catalog {
    /// A catalog that searches `folders` in order, and then the built-in datasets.
    ///
    /// A folder that does not exist has no manifests.
    pub fn new<P: Into<PathBuf>>(folders: impl IntoIterator<Item = P>) -> Self {
        Self {
            folders: folders.into_iter().map(Into::into).collect(),
        }
    }

    /// The built-in dataset that a manifest file hides, because the file has another content and either the manifest's name or the name
    /// that the user gave is the dataset's.
    pub fn hidden_by<'n>(manifest: &'n Manifest, asked: &'n str) -> Option<&'n str> {
        let Origin::File(path) = &manifest.origin else {
            return None;
        };
        let is_hidden = |name: &&str| match bundled::text(name) {
            // A checkout of this program contains the built-in manifests as files, which hide nothing.
            Some(text) => std::fs::read_to_string(path).ok().as_deref() != Some(text),
            None => in_families().any(|known| known == *name),
        };
        [manifest.name.as_str(), asked].into_iter().find(is_hidden)
    }

    /// The manifest called `name`, or the one at the path `name` if that ends in `.yaml` or `.yml`, or else
    /// [the one](Manifest::FILE) in the folder at the path `name`. A known name comes before a folder of that name in the working folder.
    pub fn find(&self, name: &str) -> Result<Manifest, CatalogError> {
        if is_manifest_file(Path::new(name)) {
            return Ok(Manifest::read(Path::new(name))?);
        }
        if let Some(path) = self.file_named(name) {
            return Ok(Manifest::read(&path)?);
        }
        if let Some(manifest) = bundled::manifest(name) {
            return Ok(manifest?);
        }
        match of_family(name) {
            Some(manifest) => Ok(manifest?),
            None if Path::new(name).is_dir() => in_folder(Path::new(name)),
            None => Err(CatalogError::Unknown {
                name: name.to_owned(),
                nearest: self.nearest(name),
            }),
        }
    }

    /// All known datasets: the folders' in order, the bundled ones, then the families.
    ///
    /// If several manifests have one name, only the first is listed. A manifest that cannot be read is listed as its error.
    pub fn manifests(&self) -> Vec<Result<Manifest, ManifestError>> {
        self.names()
            .iter()
            .filter_map(|name| match self.find(name) {
                Ok(manifest) => Some(Ok(manifest)),
                Err(CatalogError::Manifest(error)) => Some(Err(error)),
                // The file was deleted after its folder was read.
                Err(CatalogError::Unknown { .. } | CatalogError::Folder { .. }) => None,
            })
            .collect()
    }

    /// Known names similar to `name`, most similar first.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        let names = self.names();
        let nearest = nearest::all(name, names.iter().map(String::as_str));
        nearest.into_iter().map(str::to_owned).collect()
    }

    fn names(&self) -> Vec<String> {
        let in_folders = self
            .folders
            .iter()
            .flat_map(|folder| manifest_names(folder));
        let built_in = bundled::names().map(str::to_owned).chain(in_families());
        let mut names: Vec<String> = Vec::new();
        for name in in_folders.chain(built_in) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn file_named(&self, name: &str) -> Option<PathBuf> {
        let is_plain = Path::new(name).components().count() == 1;
        let candidates = self.folders.iter().flat_map(|folder| {
            ["yaml", "yml"].map(|extension| folder.join(format!("{name}.{extension}")))
        });
        candidates
            .into_iter()
            .find(|path| is_plain && path.is_file())
    }
}

/// Known BEIR collections similar to `name`; none if `name` is known, or is not a `beir:` name.
pub(crate) fn nearest_beir(name: &str) -> Vec<String> {
    if !name.starts_with(beir::PREFIX) || beir::names().any(|known| known == name) {
        return Vec::new();
    }
    let names: Vec<String> = beir::names().collect();
    let nearest = nearest::all(name, names.iter().map(String::as_str));
    nearest.into_iter().map(str::to_owned).collect()
}

/// The names of all known members of the families.
fn in_families() -> impl Iterator<Item = String> {
    beir::names()
        .chain(bright::names())
        .chain(nano_beir::names())
}

/// The manifest of a member of a family; `None` if no family has one of that name.
fn of_family(name: &str) -> Option<Result<Manifest, ManifestError>> {
    if let Some(subject) = name.strip_prefix(bright::PREFIX) {
        return bright::manifest(subject);
    }
    if let Some(collection) = name.strip_prefix(nano_beir::PREFIX) {
        return nano_beir::manifest(collection);
    }
    let collection = name.strip_prefix(beir::PREFIX)?;
    beir::is_name(collection).then(|| beir::manifest(collection))
}

fn in_folder(folder: &Path) -> Result<Manifest, CatalogError> {
    let manifest = folder.join(Manifest::FILE);
    if !manifest.exists() {
        let folder = folder.to_owned();
        return Err(CatalogError::Folder { folder });
    }
    Ok(Manifest::read(&manifest)?)
}

fn is_manifest_file(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// The names of the manifests in a folder, in alphabetical order.
fn manifest_names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.path())
        .filter(|path| is_manifest_file(path) && path.is_file())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests;
