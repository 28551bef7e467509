//! The errors of settings. Each says where the setting was written and how to mend it.

use evals_messages::nearest;
use std::path::PathBuf;

use evals_guard::regular_file::FileError;
use evals_yaml::YamlError;

use super::known::UnknownKey;
use crate::redaction;

/// Why settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file could not be read.
    #[error("cannot read settings file `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is too large or is not text.
    #[error("settings file cannot be used")]
    Unusable(#[source] FileError),
    /// The file that the user named sets nothing.
    #[error("settings file `{}` sets nothing; `evaluations config show` prints a file with every setting", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A value names an environment variable that is not set.
    #[error(
        "{origin}: `{key}` needs the environment variable `{name}`, which is not set; set it, or give a default: `${{{name}:-default}}`"
    )]
    MissingVariable {
        /// File and line.
        origin: String,
        /// The key of the value.
        key: String,
        /// The variable.
        name: String,
    },
    /// The file is not YAML.
    #[error("{origin}:{}:{}: {error}", error.line, error.column)]
    Syntax {
        /// The file.
        origin: String,
        /// The fault, with its place.
        error: YamlError,
    },
    /// The file holds a list or a single value.
    #[error("{origin}: settings must be a mapping such as `search: {{limit: 5}}`")]
    NotAMapping {
        /// The file.
        origin: String,
    },
    /// A layer has keys that are not settings.
    #[error("{}", unknown_keys(origin, keys))]
    UnknownKeys {
        /// The layer.
        origin: String,
        /// Every unknown key of the layer.
        keys: Vec<UnknownKey>,
    },
    /// A value has the wrong type or is out of range.
    #[error("{origin}: bad value for `{path}`: {message}")]
    BadValue {
        /// Layer and line.
        origin: String,
        /// The dotted path of the setting.
        path: String,
        /// The fault.
        message: String,
    },
    /// A dataset says where a model is or which key it is sent. Only the user may: the dataset's author may be somebody else.
    #[error("{origin}: a dataset may not set `{path}`; set it in a settings file")]
    NotForDatasets {
        /// Layer and line.
        origin: String,
        /// The dotted path of the setting.
        path: String,
    },
    /// An option such as `--set` that cannot be read.
    #[error("{origin}: {message}")]
    BadOption {
        /// The option and its argument.
        origin: String,
        /// The fault.
        message: String,
    },
}

fn unknown_keys(origin: &str, keys: &[UnknownKey]) -> String {
    let lines: Vec<String> = keys.iter().map(|key| unknown_key(origin, key)).collect();
    lines.join("\n")
}

/// The message about one unknown key, for errors and warnings.
pub(crate) fn unknown_key(origin: &str, key: &UnknownKey) -> String {
    let line = key.line.map_or_else(String::new, |line| format!(":{line}"));
    let path = redaction::key(&key.path);
    let hint = match &key.nearest {
        Some(_) => nearest::did_you_mean(&key.nearest),
        None => "; `evaluations config show` lists all settings".to_owned(),
    };
    format!("{origin}{line}: unknown setting `{path}`{hint}")
}
