//! Errors about a folder as a whole, such as a reranker where an embedder is needed.

use std::error::Error;

use super::files::Folder;
use crate::error::LocalError;

impl Folder {
    /// Late interaction, opened as an embedder.
    pub(crate) fn late_interaction_error(&self) -> LocalError {
        LocalError::LateInteraction {
            folder: self.path.clone(),
        }
    }

    /// A classifier, opened as an embedder.
    pub(crate) fn classifier_error(&self, architecture: String) -> LocalError {
        LocalError::Classifier {
            folder: self.path.clone(),
            architecture,
        }
    }

    /// Another reranker, opened as an embedder. `sign` is what shows that it is one.
    pub(crate) fn reranker_error(&self, sign: impl Into<String>) -> LocalError {
        LocalError::Reranker {
            folder: self.path.clone(),
            sign: sign.into(),
        }
    }

    /// A model that cannot rerank, opened as a reranker.
    pub(crate) fn no_reranker_error(&self, reason: impl Into<String>) -> LocalError {
        LocalError::NoReranker {
            folder: self.path.clone(),
            reason: reason.into(),
        }
    }

    /// A setting that this kind of reranker does not use.
    pub(crate) fn unused_setting_error(&self, setting: &'static str) -> LocalError {
        LocalError::UnreadSetting {
            folder: self.path.clone(),
            setting,
        }
    }

    /// No weights in any format.
    pub(crate) fn no_weights_error(&self) -> LocalError {
        LocalError::NoWeights {
            folder: self.path.clone(),
        }
    }

    /// A tokenizer that cannot be loaded, or fails.
    pub(crate) fn tokenizer_error(&self, source: Box<dyn Error + Send + Sync>) -> LocalError {
        LocalError::Tokenizer {
            path: self.path("tokenizer.json"),
            source,
        }
    }
}
