use std::path::PathBuf;

use evals_data::yaml::YamlError;
use evals_guard::regular_file::FileError;

use super::known::UnknownKey;
use crate::redaction;

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SettingsError {
    /// The file could not be read.
    #[error("cannot read settings file `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The file is too large, or no text.
    #[error("settings file cannot be used")]
    Unusable(#[source] FileError),
    /// The file that the user named says nothing.
    #[error("settings file `{}` holds no settings; `evaluations config show` prints a file that holds all", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A value names a variable of the environment that is not set.
    #[error(
        "{origin}: `{key}` needs the environment variable `{name}`, which is not set; set it, or write `${{{name}:-otherwise}}`"
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
        /// What is wrong, and where.
        error: YamlError,
    },
    /// The top of the file is a list or a single value.
    #[error("{origin}: settings have to be a mapping such as `search: {{limit: 5}}`")]
    NotAMapping {
        /// The file.
        origin: String,
    },
    /// A key is not a setting.
    #[error("{}", unknown_keys(origin, keys))]
    UnknownKeys {
        /// The layer.
        origin: String,
        /// Every unknown key in it.
        keys: Vec<UnknownKey>,
    },
    /// A value has the wrong type or is out of range.
    #[error("{origin}: bad value for `{path}`: {message}")]
    BadValue {
        /// Layer and line.
        origin: String,
        /// The dotted path of the setting.
        path: String,
        /// What is wrong, in serde's words.
        message: String,
    },
    /// A dataset that says where models are, or which key they are given: its author is not who runs it.
    #[error("{origin}: a dataset may not set `{path}`; set it in a settings file")]
    NotForDatasets {
        /// Layer and line.
        origin: String,
        /// The dotted path of the setting.
        path: String,
    },
    /// A `--set` of null to a setting that has to have a value.
    #[error("{origin}: the setting cannot be null")]
    NotNullable {
        /// The argument.
        origin: String,
    },
    /// A `--set` argument without `=`.
    #[error("`--set {argument}` is not of the form KEY=VALUE, e.g. `--set search.limit=10`")]
    NotAnAssignment {
        /// The argument.
        argument: String,
    },
    /// A `--set` argument whose key is nested deeper than any setting.
    #[error("{origin}: the key has {parts} parts between dots, and {most} are the most")]
    DeepKey {
        /// The argument, cut where it becomes too long to be read.
        origin: String,
        /// The parts that it has.
        parts: usize,
        /// The parts that it may have.
        most: usize,
    },
    /// A `--set` value that is not YAML.
    #[error("`--set {argument}`: the value is not valid YAML")]
    BadAssignment {
        /// The argument.
        argument: String,
        #[source]
        source: YamlError,
    },
}

fn unknown_keys(origin: &str, keys: &[UnknownKey]) -> String {
    let lines: Vec<String> = keys.iter().map(|key| unknown_key(origin, key)).collect();
    lines.join("\n")
}

/// One unknown key as a sentence, for errors and warnings alike.
pub(crate) fn unknown_key(origin: &str, key: &UnknownKey) -> String {
    let place = match key.line {
        Some(line) => format!("{origin}:{line}"),
        None => origin.to_owned(),
    };
    let path = redaction::key(&key.path);
    match &key.nearest {
        Some(nearest) => {
            format!("{place}: unknown setting `{path}`; did you mean `{nearest}`?")
        }
        None => {
            format!(
                "{place}: unknown setting `{path}`; `evaluations config show` lists all settings"
            )
        }
    }
}
