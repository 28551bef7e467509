//! The evaluators behind a report: their names, specifications and versions.

use serde::{Deserialize, Serialize};

use crate::EvaluatorSpec;

/// The identity of an evaluator: its name, and its specification and version where it has them.
///
/// In JSON an object, or the name alone if there is nothing else to say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct EvaluatorIdentity {
    /// The evaluator's name in the report.
    pub name: String,
    /// The evaluator as a dataset file would write it; `None` if no file can name it.
    pub spec: Option<EvaluatorSpec>,
    /// Its version; `None` if it has none.
    pub version: Option<String>,
}

/// An identity as JSON holds it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Name(String),
    Whole {
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spec: Option<EvaluatorSpec>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
}

impl EvaluatorIdentity {
    /// An evaluator that has only a name.
    pub fn named(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            spec: None,
            version: None,
        }
    }
}

impl From<Written> for EvaluatorIdentity {
    fn from(written: Written) -> Self {
        match written {
            Written::Name(name) => Self::named(name),
            Written::Whole {
                name,
                spec,
                version,
            } => Self {
                name,
                spec,
                version,
            },
        }
    }
}

impl From<EvaluatorIdentity> for Written {
    fn from(identity: EvaluatorIdentity) -> Self {
        match identity {
            EvaluatorIdentity {
                name,
                spec: None,
                version: None,
            } => Self::Name(name),
            EvaluatorIdentity {
                name,
                spec,
                version,
            } => Self::Whole {
                name,
                spec,
                version,
            },
        }
    }
}
