//! Why there is no verdict.

use std::error::Error;
use std::fmt;

use evals_models::{ChatError, Failure, ModelIdentity};
use thiserror::Error;

use super::Unreadable;
use crate::{Call, PromptError};

/// An answer that was not judged, with the calls that it took nevertheless. It is neither right nor wrong.
///
/// Shows its failure's message and causes.
#[derive(Debug)]
pub struct JudgeError {
    /// What happened.
    pub failure: JudgeFailure,
    /// Calls that came back, and are to be paid for.
    pub calls: Vec<Call>,
}

/// Why an answer was not judged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JudgeFailure {
    /// The model gave no reply.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The prompt cannot be used.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// Neither the first reply nor the corrected one holds a verdict.
    #[error("`{model}` gave no readable verdict, not even when asked again")]
    Unreadable {
        /// The model that was asked.
        model: ModelIdentity,
        /// What is wrong with the last reply.
        #[source]
        source: Unreadable,
    },
    /// The reply was cut, and cut again with twice the budget.
    #[error("`{model}` did not finish its verdict within {output_tokens} tokens")]
    Cut {
        /// The model that was asked.
        model: ModelIdentity,
        /// Tokens that it wrote in the end, reasoning included.
        output_tokens: u64,
    },
    /// The provider kept the text back.
    #[error("the provider of `{model}` filtered the verdict")]
    Filtered {
        /// The model that was asked.
        model: ModelIdentity,
    },
}

impl JudgeFailure {
    /// What may be done about it.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Chat(error) => error.failure,
            // It is wrong for every answer in the same way.
            Self::Prompt(_) => Failure::Terminal,
            Self::Unreadable { .. } | Self::Cut { .. } | Self::Filtered { .. } => Failure::Content,
        }
    }

    /// This failure after `calls`.
    pub(crate) fn after(self, calls: Vec<Call>) -> JudgeError {
        JudgeError {
            failure: self,
            calls,
        }
    }
}

impl fmt::Display for JudgeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(formatter)
    }
}

impl Error for JudgeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.failure.source()
    }
}
