//! The identity of a model.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names a model exactly: its provider, its name there and, if known, a digest of its weights.
///
/// Equal identities promise equal vectors, so it is part of every report and of the identity of an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ModelIdentity {
    /// The kind of server or engine: `embedded`, `ollama`, `openai`, `local`.
    pub provider: String,
    /// The model's name at that provider.
    pub name: String,
    /// Digest of the weights, as the provider writes it, and of everything else that vectors depend on. `None` if the provider does
    /// not report one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl ModelIdentity {
    /// An identity without a digest.
    pub fn new(provider: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            name: name.into(),
            digest: None,
        }
    }

    /// The same model with the digest of its weights.
    #[must_use]
    pub fn with_digest(self, digest: impl Into<String>) -> Self {
        Self {
            digest: Some(digest.into()),
            ..self
        }
    }
}

impl fmt::Display for ModelIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.provider, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_digest_is_left_out() {
        let identity = ModelIdentity::new("ollama", "qwen3");
        assert_eq!(identity.to_string(), "ollama:qwen3");
        assert_eq!(
            serde_json::to_string(&identity).unwrap(),
            r#"{"provider":"ollama","name":"qwen3"}"#
        );
        assert_eq!(
            serde_json::from_str::<ModelIdentity>(r#"{"provider":"ollama","name":"qwen3"}"#)
                .unwrap(),
            identity
        );
    }

    #[test]
    fn other_weights_are_another_model() {
        let identity = ModelIdentity::new("ollama", "qwen3");
        assert_ne!(
            identity.clone().with_digest("a1"),
            identity.clone().with_digest("b2")
        );
        assert_ne!(identity.clone().with_digest("a1"), identity);
    }
}
