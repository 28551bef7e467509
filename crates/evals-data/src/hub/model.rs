//! Folders and models from the hub or on disk.

use std::io;
use std::path::{Component, Path, PathBuf};

use walkdir::WalkDir;

use super::tree::Globs;
use super::{DownloadObserver, Hub, HubError, HubFiles, Repository};

/// Files that every model needs.
const REQUIRED: [&str; 2] = ["config.json", "tokenizer.json"];

/// In one file, or in shards.
const SAFETENSORS: &str = "{model.safetensors,model-*-of-*.safetensors}";

/// The weights to fetch if there are no safetensors.
const PYTORCH: &str = "{pytorch_model.bin,pytorch_model-*-of-*.bin}";

/// Files in which a model's authors may say how it is used.
const OPTIONAL: [&str; 19] = [
    "model.safetensors.index.json",
    "pytorch_model.bin.index.json",
    "artifact.metadata",
    "*_Dense/model.safetensors",
    "*_Dense/pytorch_model.bin",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "chat_template.jinja",
    "additional_chat_templates/*.jinja",
    "modules.json",
    "config_sentence_transformers.json",
    "sentence_bert_config.json",
    "sentence_roberta_config.json",
    "sentence_distilbert_config.json",
    "sentence_camembert_config.json",
    "sentence_albert_config.json",
    "sentence_xlm-roberta_config.json",
    "sentence_xlnet_config.json",
    "*/config.json",
];

impl Hub {
    /// Downloads the model repository `id` into the cache and verifies it, as [`fetch`](Self::fetch) does: configuration, tokenizer,
    /// weights as safetensors or else as `PyTorch` files, and the files about prompts and pooling. Only the last may be missing. Weights
    /// in other formats are not downloaded.
    pub async fn fetch_model(
        &self,
        id: &str,
        revision: &str,
        observer: &dyn DownloadObserver,
    ) -> Result<HubFiles, HubError> {
        let repo = Repository::model(id);
        let preferred = globs(SAFETENSORS)?;
        let fetched = match self
            .fetch_matching(&repo, revision, preferred, observer)
            .await
        {
            Err(error) if self.is_only_in_pytorch(&error, &repo, revision) => {
                let others = globs(PYTORCH)?;
                self.fetch_matching(&repo, revision, others, observer).await
            }
            fetched => fetched,
        };
        fetched.map_err(without_weights)
    }

    /// Whether the cache has the model, intact or not. Does not use the network.
    pub fn is_model_cached(&self, id: &str, revision: &str) -> bool {
        let repo = Repository::model(id);
        [SAFETENSORS, PYTORCH]
            .into_iter()
            .any(|weights| globs(weights).is_ok_and(|globs| self.is_there(&repo, revision, &globs)))
    }

    /// Whether the error means that the repository has no safetensors, so that `PyTorch` files are worth a try.
    fn is_only_in_pytorch(&self, error: &HubError, repo: &Repository, revision: &str) -> bool {
        let is_unlisted =
            matches!(error, HubError::NoFileMatches { glob, .. } if glob == SAFETENSORS);
        is_unlisted || globs(PYTORCH).is_ok_and(|globs| self.is_there(repo, revision, &globs))
    }
}

fn globs(weights: &'static str) -> Result<Globs, HubError> {
    let [config, tokenizer] = REQUIRED;
    Ok(Globs::new(&[config, tokenizer, weights])?.with_optional(&OPTIONAL)?)
}

/// Replaces the glob for weights by an error that lists their names.
fn without_weights(error: HubError) -> HubError {
    match error {
        HubError::NoFileMatches {
            repo,
            commit,
            glob,
            files,
        } if glob == PYTORCH => HubError::NoWeights {
            repo,
            commit,
            files,
        },
        other => other,
    }
}

/// The paths of all files below a folder, with slashes, in order. The list is empty if the folder does not exist.
///
/// Links are followed, except a link to a folder that the path already went through, which would never end, and a link that leads
/// nowhere, so that its file counts as missing. An error names what cannot be read.
pub(crate) fn files_below(folder: &Path) -> Result<Vec<String>, (PathBuf, io::Error)> {
    let mut files = Vec::new();
    for entry in WalkDir::new(folder).follow_links(true) {
        match entry {
            Ok(entry) if entry.file_type().is_file() => {
                files.extend(entry.path().strip_prefix(folder).ok().map(with_slashes));
            }
            Ok(_) => {}
            Err(error) => {
                let path = error.path().unwrap_or(folder).to_owned();
                let is_link = error.depth() > 0 && path.is_symlink();
                // Without a cause, it is a link to a folder that the path already went through.
                let Some(source) = error.into_io_error() else {
                    continue;
                };
                let is_missing = match source.kind() {
                    io::ErrorKind::NotFound => true,
                    io::ErrorKind::PermissionDenied => false,
                    _ => is_link && !path.exists(),
                };
                if !is_missing {
                    return Err((path, source));
                }
            }
        }
    }
    files.sort();
    Ok(files)
}

fn with_slashes(path: &Path) -> String {
    let parts = path.components().filter_map(|component| match component {
        Component::Normal(part) => Some(part.to_string_lossy()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_listed_with_slashes_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("b/c")).unwrap();
        for file in ["b/c/2", "b/1", "a"] {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        assert_eq!(files_below(folder.path()).unwrap(), ["a", "b/1", "b/c/2"]);
        assert!(
            files_below(&folder.path().join("absent"))
                .unwrap()
                .is_empty()
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_but_not_in_circles() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        std::fs::create_dir_all(at("a")).unwrap();
        std::fs::create_dir_all(at("b")).unwrap();
        std::fs::write(at("a/1"), "").unwrap();
        symlink(at("b"), at("a/to-b")).unwrap();
        symlink(at("a"), at("b/to-a")).unwrap();
        symlink(folder.path(), at("b/up")).unwrap();
        assert_eq!(
            files_below(folder.path()).unwrap(),
            ["a/1", "b/to-a/1"],
            "each way to a file once"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_counts_as_missing() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        std::fs::write(at("file"), "").unwrap();
        symlink("itself", at("itself")).unwrap();
        symlink("file/below", at("through-a-file")).unwrap();
        symlink("absent", at("gone")).unwrap();
        assert_eq!(files_below(folder.path()).unwrap(), ["file"]);
        let (path, source) = files_below(&at("itself")).unwrap_err();
        assert_eq!(path, at("itself"));
        let source = source.to_string();
        assert!(!source.contains("itself"), "the path again: {source}");
    }
}
