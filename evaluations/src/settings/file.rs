use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::{SettingsError, unknown_key};
use super::json_schema;
use super::known::take_unknown;
use super::resolve::Layer;
use super::tree::Tree;

/// A settings file, parsed and checked for unknown keys.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    pub(crate) path: PathBuf,
    pub(crate) layer: Layer,
    /// Keys of a `haiku.rag.yaml` that have no meaning here.
    pub(crate) warnings: Vec<String>,
}

impl SettingsFile {
    /// Reads `path`. Unknown keys are an error, except in a `haiku.rag.yaml`, which also configures another program.
    pub(crate) fn read(path: &Path) -> Result<Self, SettingsError> {
        let text = std::fs::read_to_string(path).map_err(|source| SettingsError::Read {
            path: path.to_owned(),
            source,
        })?;
        let foreign = path
            .file_name()
            .is_some_and(|name| name == "haiku.rag.yaml");
        let origin = path.display().to_string();
        let (layer, warnings) = parse(&text, &origin, foreign)?;
        Ok(Self {
            path: path.to_owned(),
            layer,
            warnings,
        })
    }

    /// The file that is read when none is named: `evaluations.yaml`, then `haiku.rag.yaml`, in the working folder,
    /// then both in the user's configuration folder.
    pub(crate) fn discover(working: &Path, user: &Path) -> Option<PathBuf> {
        [working, user]
            .iter()
            .flat_map(|folder| ["evaluations.yaml", "haiku.rag.yaml"].map(|name| folder.join(name)))
            .find(|path| path.is_file())
    }
}

fn parse(text: &str, origin: &str, foreign: bool) -> Result<(Layer, Vec<String>), SettingsError> {
    let mut tree = Tree::parse(text).map_err(|error| SettingsError::Syntax {
        origin: origin.to_owned(),
        error,
    })?;
    if tree == Tree::Leaf(Value::Null) {
        // Nothing, or comments only.
        tree = Tree::Mapping(Vec::new());
    }
    if matches!(tree, Tree::Leaf(_)) {
        return Err(SettingsError::NotAMapping {
            origin: origin.to_owned(),
        });
    }
    let unknown = take_unknown(&mut tree, &json_schema());
    if !unknown.is_empty() && !foreign {
        return Err(SettingsError::UnknownKeys {
            origin: origin.to_owned(),
            keys: unknown,
        });
    }
    let warnings = unknown.iter().map(|key| unknown_key(origin, key)).collect();
    Ok((
        Layer {
            origin: origin.to_owned(),
            tree,
        },
        warnings,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_an_error_here_and_a_warning_in_a_foreign_file() {
        let text = "storage:\n  data_dir: x\nsearch:\n  limit: 3\n";
        let error = parse(text, "evaluations.yaml", false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "evaluations.yaml:1: unknown setting `storage`; `evaluations config show` lists all settings"
        );
        let (layer, warnings) = parse(text, "haiku.rag.yaml", true).unwrap();
        assert_eq!(warnings.len(), 1);
        assert_eq!(
            layer.tree.to_value(),
            serde_json::json!({"search": {"limit": 3}})
        );
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
            "evaluations.yaml: settings have to be a mapping such as `search: {limit: 5}`"
        );
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
