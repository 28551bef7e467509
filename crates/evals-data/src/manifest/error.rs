//! Why a manifest cannot be used.

use std::path::PathBuf;

use evals_messages::nearest;
use thiserror::Error;

use evals_yaml::{YamlError, innermost};

/// Why a manifest cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The file cannot be read.
    #[error("cannot read `{}`", path.display())]
    Unreadable {
        /// The manifest's path.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A key that manifests do not have.
    #[error("{origin}:{line}: unknown key `{key}`{}", hint(nearest.as_deref(), known))]
    UnknownKey {
        /// The manifest.
        origin: String,
        /// The key's line, from 1.
        line: u64,
        /// The key as written.
        key: String,
        /// The most similar known key, if one is similar.
        nearest: Option<String>,
        /// The known keys at that place.
        known: Vec<String>,
    },
    /// Not YAML, or a value of the wrong kind.
    #[error("{origin}:{}:{}: {error}", error.line, error.column)]
    Yaml {
        /// The manifest.
        origin: String,
        /// The problem and its place.
        error: YamlError,
    },
    /// A missing key, or a contradiction.
    #[error("{origin}:{line}: {message}")]
    Invalid {
        /// The manifest.
        origin: String,
        /// The line, from 1.
        line: u64,
        /// The problem.
        message: String,
    },
}

fn hint(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(_) => nearest::did_you_mean(nearest),
        None => format!("; the keys here are {}", known.join(", ")),
    }
}

impl ManifestError {
    pub(super) fn from_yaml(error: &serde_saphyr::Error, origin: &str) -> Self {
        let origin = origin.to_owned();
        let words = YamlError::from(error);
        let line = words.line;
        match innermost(error) {
            serde_saphyr::Error::SerdeUnknownField {
                field, expected, ..
            } => {
                let nearest = nearest::of(field, expected.iter().copied());
                Self::UnknownKey {
                    origin,
                    line,
                    key: field.clone(),
                    nearest: nearest.map(str::to_owned),
                    known: expected.iter().map(|&key| key.to_owned()).collect(),
                }
            }
            // A missing key has no column to point at.
            serde_saphyr::Error::SerdeMissingField { .. } => Self::Invalid {
                origin,
                line,
                message: words.message,
            },
            _ => Self::Yaml {
                origin,
                error: words,
            },
        }
    }
}
