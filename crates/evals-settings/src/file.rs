//! A settings file: finding it, reading it, and refusing keys that are not settings.

use evals_yaml::Tree;
use std::path::{Path, PathBuf};

use evals_guard::regular_file::{self, FileError};
use serde_json::Value;

use super::error::{SettingsError, unknown_key};
use super::haiku;
use super::known::{UnknownKey, take_unknown};
use super::layer::Layer;
use super::sections::json_schema;

/// The size limit of a settings file, in bytes.
const LARGEST: u64 = 16_000_000;

/// Naming this file means using no settings file.
const NO_FILE: &str = "/dev/null";

/// A settings file, parsed and checked for unknown keys.
#[derive(Debug)]
pub struct SettingsFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it sets.
    pub layer: Layer,
    /// Which settings of a haiku.rag file are ignored.
    pub warnings: Vec<String>,
}

impl SettingsFile {
    /// The name of a settings file that nobody has to name.
    pub const NAME: &str = "evaluations.yaml";

    /// Reads the file that the user named. A file that sets nothing is refused as a mistake; `/dev/null` is not.
    pub fn named(path: &Path) -> Result<Self, SettingsError> {
        let file = Self::read(path)?;
        let sets_nothing = file.layer.tree == Tree::Mapping(Vec::new()) && file.warnings.is_empty();
        if sets_nothing && path != Path::new(NO_FILE) {
            return Err(SettingsError::Empty {
                path: path.to_owned(),
            });
        }
        Ok(file)
    }

    /// Reads `path`. Unknown keys are an error. In a haiku.rag file they are a warning, because that file configures another program.
    pub fn read(path: &Path) -> Result<Self, SettingsError> {
        let text = regular_file::read_named(path, LARGEST).map_err(|error| match error {
            FileError::Io { path, source } => SettingsError::Read { path, source },
            error => SettingsError::Unusable(error),
        })?;
        let foreign = path
            .file_name()
            .is_some_and(|name| name == haiku::FILE_NAME);
        let origin = path.display().to_string();
        let (layer, warnings) = parse(&text, &origin, foreign)?;
        Ok(Self {
            path: path.to_owned(),
            layer,
            warnings,
        })
    }

    /// The settings file to read unless the user names one: `evaluations.yaml` or `haiku.rag.yaml` in the working folder, else in the
    /// user's configuration folder.
    pub fn discover(working: &Path, user: &Path) -> Option<PathBuf> {
        [working, user]
            .iter()
            .flat_map(|folder| [Self::NAME, haiku::FILE_NAME].map(|name| folder.join(name)))
            .find(|path| path.is_file())
    }

    /// The file of this name in the folder of a dataset, if that is not the working folder, from which settings are read.
    pub fn beside(dataset: &Path, working: &Path, name: &str) -> Option<PathBuf> {
        let folder = dataset.parent()?;
        let [there, here] = [&working.join(folder), working].map(|it| it.canonicalize().ok());
        let file = folder.join(name);
        (there? != here? && working.join(&file).is_file()).then_some(file)
    }
}

/// Parses the text of a file. `has_haiku_name` says whether the file has the name of haiku.rag's file. A haiku.rag file of another
/// name is recognized by its keys.
fn parse(
    text: &str,
    origin: &str,
    has_haiku_name: bool,
) -> Result<(Layer, Vec<String>), SettingsError> {
    let mut tree = Tree::parse(text).map_err(|error| SettingsError::Syntax {
        origin: origin.to_owned(),
        error,
    })?;
    if tree == Tree::Leaf(Value::Null) {
        // The file is empty or holds only comments.
        tree = Tree::Mapping(Vec::new());
    }
    if matches!(tree, Tree::Leaf(_)) {
        return Err(SettingsError::NotAMapping {
            origin: origin.to_owned(),
        });
    }
    let mark = haiku::mark(&tree);
    if has_haiku_name || mark.is_some() {
        let reason = mark.filter(|_| !has_haiku_name).map(|(path, line)| {
            let line = line.map_or_else(String::new, |line| format!(" on line {line}"));
            format!("read as a haiku.rag file because of `{path}`{line}")
        });
        return parse_haiku(tree, origin, reason);
    }
    let unknown = take_unknown(&mut tree, json_schema());
    if !unknown.is_empty() {
        return Err(SettingsError::UnknownKeys {
            origin: origin.to_owned(),
            keys: unknown,
        });
    }
    Ok((Layer::new(origin, tree), Vec::new()))
}

/// Translates a haiku.rag file. `reason` says what it was recognized by, unless its name says so.
fn parse_haiku(
    tree: Tree,
    origin: &str,
    reason: Option<String>,
) -> Result<(Layer, Vec<String>), SettingsError> {
    let translated = haiku::translate(tree).map_err(|missing| SettingsError::MissingVariable {
        origin: match missing.line {
            Some(line) => format!("{origin}:{line}"),
            None => origin.to_owned(),
        },
        key: missing.key,
        name: missing.name,
    })?;
    let mut tree = translated.tree;
    let mut unknown = translated.removed;
    unknown.extend(take_unknown(&mut tree, json_schema()));
    unknown.sort_by_key(|key| key.line);
    let (ignored, misspelt): (Vec<UnknownKey>, Vec<UnknownKey>) = unknown
        .into_iter()
        .partition(|key| haiku::is_haiku_key(&key.path));
    let mut warnings: Vec<String> = reason
        .map(|reason| format!("{origin}: {reason}"))
        .into_iter()
        .collect();
    if !ignored.is_empty() {
        let keys: Vec<String> = ignored.iter().map(with_line).collect();
        warnings.push(format!(
            "{origin}: ignored settings that only haiku.rag has: {}",
            keys.join(", ")
        ));
    }
    warnings.extend(misspelt.iter().map(|key| unknown_key(origin, key)));
    let layer = Layer {
        reranks: true,
        ..Layer::new(origin, tree)
    };
    Ok((layer, warnings))
}

/// A key with its line.
fn with_line(key: &UnknownKey) -> String {
    match key.line {
        Some(line) => format!("`{}` (line {line})", key.path),
        None => format!("`{}`", key.path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_an_error_here_and_a_warning_in_a_foreign_file() {
        let text = "storage: x\nsearch:\n  limit: 3\n";
        let error = parse(text, "evaluations.yaml", false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "evaluations.yaml:1: unknown setting `storage`; did you mean `store`?"
        );
        let (layer, warnings) = parse(text, "haiku.rag.yaml", true).unwrap();
        assert_eq!(
            warnings,
            ["haiku.rag.yaml: ignored settings that only haiku.rag has: `storage` (line 1)"]
        );
        assert_eq!(
            layer.tree.to_value(),
            serde_json::json!({"search": {"limit": 3}})
        );
    }

    #[test]
    fn the_keys_of_a_file_tell_its_format_whatever_its_name() {
        let text = "search:\n  limt: 3\nstorage:\n  data_dir: x\nqa:\n  max_searches: 3\n";
        let (layer, warnings) = parse(text, "mine.yaml", false).unwrap();
        assert_eq!(
            warnings,
            [
                "mine.yaml: read as a haiku.rag file because of `storage` on line 3",
                "mine.yaml: ignored settings that only haiku.rag has: `storage` (line 3), \
                 `qa.max_searches` (line 6)",
                "mine.yaml:2: unknown setting `search.limt`; did you mean `search.limit`?",
            ]
        );
        assert!(layer.reranks);
    }

    #[test]
    fn the_error_of_an_unset_variable_names_its_line() {
        let text = "qa:\n  model:\n    name: m\n    base_url: http://${NO_SUCH_HOST_HERE}/v1\n";
        assert_eq!(
            parse(text, "haiku.rag.yaml", true).unwrap_err().to_string(),
            "haiku.rag.yaml:4: `base_url` needs the environment variable `NO_SUCH_HOST_HERE`, which is not set; set it, or \
             give a default: `${NO_SUCH_HOST_HERE:-default}`"
        );
    }

    #[test]
    fn a_file_that_is_named_holds_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty.yaml");
        for text in ["", "# nothing yet\n", "{}\n", "search:\n  # limit: 5\n"] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(
                SettingsFile::named(&path).unwrap_err().to_string(),
                format!(
                    "settings file `{}` sets nothing; `evaluations config show` prints a file with every setting",
                    path.display()
                ),
                "{text:?}"
            );
            assert!(SettingsFile::read(&path).is_ok(), "{text:?}");
        }
        if cfg!(unix) {
            assert!(SettingsFile::named(Path::new(NO_FILE)).is_ok());
        }
    }

    #[test]
    fn broken_yaml_names_line_and_column() {
        let refused = |text| {
            parse(text, "evaluations.yaml", false)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused("search:\n  limit: 1\n  limit: 2\n"),
            "evaluations.yaml:3:3: duplicate key `limit`"
        );
        assert_eq!(
            refused("search: {limit: 1}\n---\nsearch: {limit: 2}\n"),
            "evaluations.yaml:3:1: more than one YAML document: only one is read, so nothing can follow `---`"
        );
    }

    #[test]
    fn an_empty_section_sets_nothing() {
        let (layer, _) = parse("search:\n  # limit: 5\n", "evaluations.yaml", false).unwrap();
        assert_eq!(layer.tree, Tree::Mapping(Vec::new()));
        let (layer, _) = parse("# nothing yet\n", "evaluations.yaml", false).unwrap();
        assert_eq!(layer.tree, Tree::Mapping(Vec::new()));
    }

    #[test]
    fn a_list_is_not_settings() {
        let error = parse("- a\n- b\n", "evaluations.yaml", false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "evaluations.yaml: settings must be a mapping such as `search: {limit: 5}`"
        );
    }

    #[test]
    fn a_file_beside_a_dataset_is_found_unless_it_is_in_the_working_folder() {
        let working = tempfile::tempdir().unwrap();
        let folder = working.path().join("mine");
        std::fs::create_dir(&folder).unwrap();
        let beside = |dataset: &str, working: &Path| {
            SettingsFile::beside(Path::new(dataset), working, SettingsFile::NAME)
        };
        assert_eq!(beside("mine/dataset.yaml", working.path()), None);
        std::fs::write(folder.join(SettingsFile::NAME), "").unwrap();
        assert_eq!(
            beside("mine/dataset.yaml", working.path()),
            Some(PathBuf::from("mine/evaluations.yaml"))
        );
        assert_eq!(beside("dataset.yaml", &folder), None);
        assert_eq!(beside("../mine/dataset.yaml", &folder), None);
    }

    #[test]
    fn the_working_folder_comes_before_the_users() {
        let working = tempfile::tempdir().unwrap();
        let user = tempfile::tempdir().unwrap();
        assert_eq!(SettingsFile::discover(working.path(), user.path()), None);
        std::fs::write(user.path().join("evaluations.yaml"), "").unwrap();
        assert_eq!(
            SettingsFile::discover(working.path(), user.path()),
            Some(user.path().join("evaluations.yaml"))
        );
        std::fs::write(working.path().join("haiku.rag.yaml"), "").unwrap();
        assert_eq!(
            SettingsFile::discover(working.path(), user.path()),
            Some(working.path().join("haiku.rag.yaml"))
        );
    }
}
