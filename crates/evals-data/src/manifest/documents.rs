//! Manifests of documents alone, for commands that write the questions.

use std::path::{Component, Path, PathBuf};

use evals_guard::regular_file::{self, FileError};
use serde_json::{Value, json};

use super::{Deduplicate, Manifest, ManifestError, Origin, Source};
use crate::format;
use crate::hub::files_below;

impl Manifest {
    /// Reads a manifest whose questions do not matter: it need not have any.
    pub fn read_documents(path: &Path) -> Result<Self, ManifestError> {
        let text = regular_file::read_text(path, super::LARGEST)?;
        let parse = |text: &str| Self::parse(text, Origin::File(path.to_owned()));
        // At the end, so that the lines of errors stay.
        let completed = || {
            parse(&format!(
                "{text}\nquestions: {{source: {{path: .}}, text: question, relevant: relevant}}\n"
            ))
        };
        let manifest = parse(&text).or_else(|error| completed().map_err(|_| error))?;
        Ok(manifest.documents_only())
    }

    /// A manifest of the texts in a folder, or of one file.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, or has no text.
    pub fn of_texts(path: &Path) -> Result<Self, ManifestError> {
        let name = path.file_stem().unwrap_or(path.as_os_str());
        let written = json!({
            "name": name.to_string_lossy(),
            "source": {"path": path.to_string_lossy(), "files": globs(path)?},
            "documents": {},
            "questions": {"text": "question", "relevant": "relevant"},
        });
        Ok(Self::parse(&written.to_string(), Origin::Memory)?.documents_only())
    }

    /// The same manifest with questions that need no files of their own, for a command that reads only the documents.
    #[must_use]
    pub fn documents_only(mut self) -> Self {
        self.questions.source = self.documents.source.clone();
        self.judgements = None;
        self
    }

    /// The section `documents` of a manifest in `folder` that names the same documents. `None` if no path leads there, as to those that are
    /// part of the program.
    pub fn documents_section(&self, folder: &Path) -> Option<Value> {
        let columns = &self.documents.columns;
        let source = match &self.documents.source {
            Source::Bundled { .. } | Source::Nothing => return None,
            Source::Hub {
                repo,
                revision,
                files,
            } => json!({"repo": repo, "revision": revision, "files": files}),
            Source::Path { path, files } if files.is_empty() => {
                json!({"path": relative(folder, path)?})
            }
            Source::Path { path, files } => {
                json!({"path": relative(folder, path)?, "files": files})
            }
        };
        let mut section = json!({"source": source});
        if !columns.whole_files {
            section["uri"] = json!(columns.uri);
            section["text"] = json!(columns.text);
        }
        if let Some(title) = &columns.title {
            section["title"] = json!(title);
        }
        section["metadata"] = json!(columns.metadata);
        if columns.filter.columns().next().is_some() {
            section["where"] = columns.filter.written();
        }
        match columns.deduplicate {
            Deduplicate::No => {}
            Deduplicate::Identical => section["deduplicate"] = true.into(),
            Deduplicate::First => section["deduplicate"] = "first".into(),
        }
        Some(section)
    }
}

/// The globs that choose the texts of a folder; none for a file.
fn globs(path: &Path) -> Result<Vec<String>, ManifestError> {
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let mut present = files_below(path)
        .map_err(|(path, source)| ManifestError::File(FileError::Io { path, source }))?;
    present.retain(|file| !file.split('/').any(|part| part.starts_with('.')));
    present.sort();
    let extension = |file: &String| Some(Path::new(file).extension()?.to_str()?.to_owned());
    let texts = present.iter().filter(|file| format::is_text(file));
    let mut globs: Vec<String> = texts
        .filter_map(|file| Some(format!("**/*.{}", extension(file)?)))
        .collect();
    globs.sort();
    globs.dedup();
    if !globs.is_empty() {
        return Ok(globs);
    }
    Err(ManifestError::NoText {
        folder: path.to_owned(),
        instead: present
            .first()
            .map_or_else(|| "; it is empty".to_owned(), |it| instead(it)),
    })
}

/// What to do with a file that is not a text.
fn instead(file: &str) -> String {
    match (format::to_convert(file), format::of(file)) {
        (Some((kind, tool)), _) => {
            format!("; `{file}` is {kind}: convert it to text first, such as with `{tool}`")
        }
        (None, Some(_)) => format!("; `{file}` is a table: name its columns in a manifest"),
        (None, None) => format!("; `{file}` is in a format that is not read"),
    }
}

/// The relative path from `folder` to `path`, with slashes, or the whole path if they are on different drives. `None` if one does not exist, or
/// is not text.
fn relative(folder: &Path, path: &Path) -> Option<String> {
    let (folder, path) = (folder.canonicalize().ok()?, path.canonicalize().ok()?);
    let parts = |path: &Path| {
        path.components()
            .map(|it| it.as_os_str().to_owned())
            .collect()
    };
    let (from, to): (Vec<_>, Vec<_>) = (parts(&folder), parts(&path));
    let shared = from.iter().zip(&to).take_while(|(from, to)| from == to);
    let shared = shared.count();
    if shared == 0 {
        return path.to_str().map(str::to_owned);
    }
    let up = from[shared..]
        .iter()
        .map(|_| Component::ParentDir.as_os_str().to_owned());
    let way: PathBuf = up.chain(to[shared..].iter().cloned()).collect();
    let parts: Option<Vec<&str>> = way.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
        .filter(|way| !way.is_empty())
        .or_else(|| Some(".".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn documents_keep_their_meaning_in_a_manifest_of_a_different_folder() {
        let folder = tempfile::tempdir().unwrap();
        let sets = folder.path().join("sets/first");
        fs::create_dir_all(&sets).unwrap();
        fs::create_dir_all(folder.path().join("docs/deep")).unwrap();
        for (name, text) in [
            ("docs/a.MD", "# A"),
            ("docs/deep/b.txt", "B"),
            ("docs/deep/c.txt", "C"),
            ("docs/.hidden.md", "no"),
            ("docs/picture.png", "no"),
            ("rows.csv", "id,text,kind\n1,One,x\n"),
            (
                "table.yaml",
                "name: t\ndocuments: {source: {path: rows.csv}, uri: id, text: [text, kind], where: {kind: [x, z]}, deduplicate: first}\n",
            ),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let texts = Manifest::of_texts(&folder.path().join("docs")).unwrap();
        let table = Manifest::read_documents(&folder.path().join("table.yaml")).unwrap();
        for (manifest, expected) in [
            (
                texts,
                json!({"source": {"path": "../../docs", "files": ["**/*.MD", "**/*.txt"]}, "title": "title", "metadata": ["*"]}),
            ),
            (
                table,
                json!({
                    "source": {"path": "../../rows.csv"}, "uri": "id", "text": ["text", "kind"], "metadata": [],
                    "where": {"kind": ["x", "z"]}, "deduplicate": "first",
                }),
            ),
        ] {
            let section = manifest.documents_section(&sets).unwrap();
            assert_eq!(section, expected);
            let path = sets.join("dataset.yaml");
            fs::write(
                &path,
                json!({"name": "again", "documents": section}).to_string(),
            )
            .unwrap();
            // A mapping in braces cannot be completed.
            assert!(Manifest::read_documents(&path).is_err());
            fs::write(&path, format!("name: again\ndocuments: {section}\n")).unwrap();
            let again = Manifest::read_documents(&path).unwrap();
            assert_eq!(again.documents.columns, manifest.documents.columns);
        }
    }

    #[test]
    fn a_folder_without_texts_says_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let refused = || Manifest::of_texts(folder.path()).unwrap_err().to_string();
        assert!(refused().ends_with("holds no text, such as .md, .txt or .html; it is empty"));
        fs::write(folder.path().join("z.bin"), [0, 255]).unwrap();
        assert!(refused().ends_with("`z.bin` is in a format that is not read"));
        fs::write(folder.path().join("rows.parquet"), "").unwrap();
        assert!(refused().ends_with("name its columns in a manifest"));
        fs::write(folder.path().join("a.pdf"), "").unwrap();
        assert!(refused().contains("convert it to text first"));
    }

    #[test]
    fn a_defect_of_a_manifest_without_questions_keeps_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.yaml");
        fs::write(&path, "name: t\ndocuments: {sauce: {path: a}}\n").unwrap();
        let error = Manifest::read_documents(&path).unwrap_err().to_string();
        assert!(error.contains(":2: unknown key `sauce`"), "{error}");
    }
}
