//! Where the files of a local model are: in a folder, or in a repository of the Hugging Face hub.

use std::path::{Path, PathBuf};

/// The revision of a repository unless the settings name one.
const MAIN: &str = "main";

/// Where a model's files are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ModelFiles {
    Folder(PathBuf),
    Hub { id: String, revision: String },
}

impl ModelFiles {
    /// The folder `name` if it exists, else the repository of that name. An error names the field that is wrong.
    pub(super) fn of(name: &str, revision: Option<&str>) -> Result<Self, (&'static str, String)> {
        let folder = Path::new(name);
        if folder.is_dir() {
            if revision.is_some() {
                return Err((
                    "revision",
                    "a folder has no revisions; remove the setting".to_owned(),
                ));
            }
            return Ok(Self::Folder(named(folder)));
        }
        if !is_repository(name) {
            let message = format!(
                "`{name}` is neither a folder nor a model on the Hugging Face hub, such as `owner/name`"
            );
            return Err(("name", message));
        }
        Ok(Self::Hub {
            id: name.to_owned(),
            revision: revision.unwrap_or(MAIN).to_owned(),
        })
    }
}

/// The path of a folder, made to end in the folder's name, which becomes the model's. `.` and `..` are resolved.
fn named(folder: &Path) -> PathBuf {
    let real = || folder.canonicalize().ok();
    match folder.file_name() {
        Some(_) => folder.to_owned(),
        None => real().unwrap_or_else(|| folder.to_owned()),
    }
}

/// Whether a repository of the hub can have this name.
fn is_repository(name: &str) -> bool {
    let is_part = |part: &str| {
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        part.starts_with(|first: char| first != '.') && part.chars().all(is_allowed)
    };
    name.split('/').count() <= 2 && name.split('/').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str) -> Result<ModelFiles, String> {
        ModelFiles::of(name, None).map_err(|(field, message)| format!("{field}: {message}"))
    }

    #[test]
    fn a_folder_comes_before_the_hub() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        assert_eq!(
            found(path),
            Ok(ModelFiles::Folder(folder.path().to_owned()))
        );
        assert_eq!(
            ModelFiles::of(path, Some("v1")),
            Err((
                "revision",
                "a folder has no revisions; remove the setting".to_owned()
            ))
        );
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(
            found("."),
            Ok(ModelFiles::Folder(here)),
            "a model called `.`"
        );
    }

    #[test]
    fn what_is_no_folder_is_a_repository_or_nothing() {
        let hub = |id: &str, revision: &str| ModelFiles::Hub {
            id: id.to_owned(),
            revision: revision.to_owned(),
        };
        for name in [
            "sentence-transformers/all-MiniLM-L6-v2",
            "bert-base-uncased",
        ] {
            assert_eq!(found(name), Ok(hub(name, "main")));
        }
        assert_eq!(ModelFiles::of("o/n", Some("v1.5")), Ok(hub("o/n", "v1.5")));
        for name in [
            "./minilm",
            "../o/n",
            "/models/minilm",
            "a/b/c",
            "o/n/",
            "o\\n",
            "",
        ] {
            assert_eq!(
                found(name),
                Err(format!(
                    "name: `{name}` is neither a folder nor a model on the Hugging Face hub, such as `owner/name`"
                ))
            );
        }
    }
}
