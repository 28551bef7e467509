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
    /// Not YAML, or a value of the wrong kind.
    #[error("{origin}:{}:{}: {error}", error.line, error.column)]
    Yaml {
        /// The manifest.
        origin: String,
        /// The problem and its place.
        error: YamlError,
    },
    /// An unknown or a missing key, or a contradiction.
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

impl ManifestError {
    pub(super) fn from_yaml(error: &serde_saphyr::Error, origin: &str) -> Self {
        let origin = origin.to_owned();
        let words = YamlError::from(error);
        let message = match innermost(error) {
            serde_saphyr::Error::SerdeUnknownField {
                field, expected, ..
            } => {
                let nearest = nearest::of(field, expected.iter().copied());
                let hint = match nearest {
                    Some(_) => nearest::did_you_mean(nearest),
                    None => format!("; the keys here are {}", expected.join(", ")),
                };
                format!("unknown key `{field}`{hint}")
            }
            // A missing key has no column to point at.
            serde_saphyr::Error::SerdeMissingField { .. } => words.message,
            _ => {
                return Self::Yaml {
                    origin,
                    error: words,
                };
            }
        };
        Self::Invalid {
            origin,
            line: words.line,
            message,
        }
    }
}
