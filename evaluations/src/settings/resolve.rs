use serde_json::{Map, Value};

use super::error::SettingsError;
use super::known::take_unknown;
use super::tree::{Entry, Tree, overlay};
use super::{Settings, json_schema};

/// One source of settings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layer {
    /// What errors call it: a file's path, a dataset, an option.
    pub(crate) origin: String,
    pub(crate) tree: Tree,
}

impl Layer {
    /// The `settings` of a dataset's manifest.
    pub(crate) fn dataset(name: &str, settings: &Value) -> Result<Self, SettingsError> {
        Self::checked(
            format!("settings of dataset `{name}`"),
            Tree::from_value(settings),
        )
    }

    /// One `--set KEY=VALUE`. The value is YAML, so `null`, `3`, `[a]` and `text` are what they look like.
    pub(crate) fn assignment(argument: &str) -> Result<Self, SettingsError> {
        let (path, text) = argument
            .split_once('=')
            .filter(|(path, _)| !path.is_empty())
            .ok_or_else(|| SettingsError::NotAnAssignment {
                argument: argument.to_owned(),
            })?;
        let value = if text.trim().is_empty() {
            Tree::Leaf(Value::String(String::new()))
        } else {
            Tree::parse(text).map_err(|source| SettingsError::BadAssignment {
                argument: argument.to_owned(),
                source: Box::new(source),
            })?
        };
        let tree = path.rsplit('.').fold(value, |value, key| {
            Tree::Mapping(vec![Entry {
                key: key.to_owned(),
                line: None,
                value,
            }])
        });
        Self::checked(format!("`--set {argument}`"), tree)
    }

    fn checked(origin: String, mut tree: Tree) -> Result<Self, SettingsError> {
        let keys = take_unknown(&mut tree, &json_schema());
        if keys.is_empty() {
            Ok(Self { origin, tree })
        } else {
            Err(SettingsError::UnknownKeys { origin, keys })
        }
    }
}

/// Settings with every layer applied.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Resolved {
    pub(crate) settings: Settings,
    /// The layers' names, weakest first.
    pub(crate) origins: Vec<String>,
}

/// Lays `layers`, weakest first, over the defaults.
pub(crate) fn resolve(layers: &[Layer]) -> Result<Resolved, SettingsError> {
    let defaults = serde_json::to_value(Settings::default()).expect("settings are plain data");
    let Value::Object(mut merged) = defaults else {
        unreachable!("settings are a mapping")
    };
    for layer in layers {
        if let Value::Object(upper) = layer.tree.to_value() {
            overlay(&mut merged, upper);
        }
    }
    let settings = deserialize(merged, layers)?;
    let origins = layers.iter().map(|layer| layer.origin.clone()).collect();
    Ok(Resolved { settings, origins })
}

fn deserialize(merged: Map<String, Value>, layers: &[Layer]) -> Result<Settings, SettingsError> {
    serde_path_to_error::deserialize(Value::Object(merged)).map_err(|error| {
        let path = error.path().to_string();
        let keys: Vec<&str> = path.split('.').collect();
        let place = layers.iter().rev().find_map(|layer| {
            layer.tree.deepest(&keys).map(|entry| match entry.line {
                Some(line) => format!("{}:{line}", layer.origin),
                None => layer.origin.clone(),
            })
        });
        SettingsError::BadValue {
            origin: place.unwrap_or_else(|| "settings".to_owned()),
            path,
            message: error.into_inner().to_string(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Layer {
        Layer {
            origin: "evaluations.yaml".to_owned(),
            tree: Tree::parse(text).unwrap(),
        }
    }

    #[test]
    fn no_layers_give_the_defaults() {
        assert_eq!(resolve(&[]).unwrap().settings, Settings::default());
    }

    #[test]
    fn the_strongest_layer_wins() {
        let dataset = Layer::dataset(
            "wix",
            &serde_json::json!({"processing": {"chunk_size": null}}),
        )
        .unwrap();
        let layers = [
            dataset,
            file("processing: {chunk_size: 128}"),
            Layer::assignment("search.limit=7").unwrap(),
        ];
        let settings = resolve(&layers).unwrap().settings;
        assert_eq!(
            settings
                .processing
                .chunk_size
                .map(std::num::NonZeroUsize::get),
            Some(128)
        );
        assert_eq!(settings.search.limit.get(), 7);
        assert_eq!(
            resolve(&layers[..1])
                .unwrap()
                .settings
                .processing
                .chunk_size,
            None
        );
    }

    #[test]
    fn a_bad_value_names_file_line_and_key() {
        let error = resolve(&[file("search:\n  limit: many\n")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "evaluations.yaml:2: bad value for `search.limit`: invalid type: string \"many\", expected a nonzero \
             usize"
        );
        let error = resolve(&[
            file("search:\n  limit: 5\n"),
            Layer::assignment("search.limit=0").unwrap(),
        ]);
        let message = error.unwrap_err().to_string();
        assert!(
            message.starts_with("`--set search.limit=0`: bad value for `search.limit`"),
            "{message}"
        );
    }

    #[test]
    fn an_assignment_is_checked_like_a_file() {
        assert_eq!(
            Layer::assignment("search.limt=3").unwrap_err().to_string(),
            "`--set search.limt=3`: unknown setting `search.limt`; did you mean `search.limit`?"
        );
        assert_eq!(
            Layer::assignment("search.limit").unwrap_err().to_string(),
            "`--set search.limit` is not of the form KEY=VALUE, e.g. `--set search.limit=10`"
        );
    }

    #[test]
    fn an_assignment_takes_null_and_text() {
        let resolved = resolve(&[
            Layer::assignment("processing.chunk_size=null").unwrap(),
            Layer::assignment("search.profile=bm25").unwrap(),
        ]);
        let settings = resolved.unwrap().settings;
        assert_eq!(settings.processing.chunk_size, None);
        assert_eq!(settings.search.profile, "bm25");
    }
}
