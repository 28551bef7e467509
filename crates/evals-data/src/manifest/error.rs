use std::path::PathBuf;

use thiserror::Error;

/// A manifest that cannot be used.
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
        /// The most similar known key, where one is similar.
        nearest: Option<String>,
        /// The keys known at that place.
        known: Vec<String>,
    },
    /// Not YAML, a missing key, or a value of the wrong kind.
    #[error("{origin}:{line}: {message}")]
    Invalid {
        /// The manifest.
        origin: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
}

fn hint(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!(", did you mean `{nearest}`?"),
        None => format!("; known here: {}", known.join(", ")),
    }
}

impl ManifestError {
    pub(super) fn from_yaml(error: &serde_saphyr::Error, origin: &str) -> Self {
        let bare = error.without_snippet();
        let line = bare.location().map_or(1, |location| location.line());
        let origin = origin.to_owned();
        match bare {
            serde_saphyr::Error::SerdeUnknownField {
                field, expected, ..
            } => {
                let known: Vec<String> = expected.iter().map(|&key| key.to_owned()).collect();
                let nearest = crate::nearest::nearest(field, known.iter().map(String::as_str))
                    .into_iter()
                    .next();
                Self::UnknownKey {
                    origin,
                    line,
                    key: field.clone(),
                    nearest,
                    known,
                }
            }
            serde_saphyr::Error::SerdeMissingField { field, .. } => Self::Invalid {
                origin,
                line,
                message: format!("missing key `{field}`"),
            },
            serde_saphyr::Error::Message { msg, .. } => Self::Invalid {
                origin,
                line,
                message: msg.clone(),
            },
            other => Self::Invalid {
                origin,
                line,
                message: without_place(&other.to_string()),
            },
        }
    }
}

/// The parser's message without its own ` at line …`, which stands in front already.
fn without_place(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    line.rsplit_once(" at line ")
        .map_or(line, |(text, _)| text)
        .trim()
        .to_owned()
}
