//! Errors of judges, and the calls behind verdicts and errors.

use std::sync::Arc;

use evals::{EvaluatorError, TaskScope};
use evals_models::{ChatError, Failure, ModelIdentity};
use thiserror::Error;

use crate::call::{self, Purpose};
use crate::failures::{AfterCalls, class};
use crate::reply_object::Unreadable;
use crate::{Call, PromptError};

/// The error of an answer that was not judged, with the calls made for it. The answer is neither right nor wrong.
pub type JudgeError = AfterCalls<JudgeFailure>;

/// Why an answer was not judged.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JudgeFailure {
    /// The model gave no reply.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The prompt cannot be filled in.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// Neither the first reply nor the corrected one holds a verdict.
    #[error("`{model}` gave no readable verdict, not even when asked again")]
    Unreadable {
        /// The model.
        model: ModelIdentity,
        /// The beginning of the last reply, in one line.
        reply: String,
        /// The fault of the last reply.
        #[source]
        source: Unreadable,
    },
    /// The reply was cut, even with twice the budget.
    #[error("`{model}` did not finish its verdict within {output_tokens} tokens")]
    Cut {
        /// The model.
        model: ModelIdentity,
        /// Tokens of the last reply, reasoning included.
        output_tokens: u64,
    },
    /// The claims of a text could not be listed, so nothing could be decided about them.
    #[error("the {what} could not be listed")]
    Claims {
        /// Which claims, such as `claims of the answer`.
        what: &'static str,
        /// Why. Every judge that needs the claims fails for this reason.
        #[source]
        source: Arc<JudgeFailure>,
    },
    /// The provider withheld the text.
    #[error("the provider of `{model}` filtered the verdict")]
    Filtered {
        /// The model.
        model: ModelIdentity,
    },
}

impl JudgeFailure {
    /// The class of the failure: transient, terminal or content.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Chat(error) => error.failure,
            // It repeats for every answer.
            Self::Prompt(_) => Failure::Terminal,
            Self::Claims { source, .. } => source.failure(),
            Self::Unreadable { .. } | Self::Cut { .. } | Self::Filtered { .. } => Failure::Content,
        }
    }
}

impl JudgeError {
    /// The evaluator's failure, with its class.
    pub(crate) fn of_evaluator(self) -> EvaluatorError {
        let class = class(self.failure.failure());
        EvaluatorError::new(self).classed(class)
    }
}

/// Records the calls behind a verdict in the report of its case, those of a judge that failed too.
pub fn record_judged<T>(
    judged: Result<T, JudgeError>,
    calls: fn(&T) -> &[Call],
    purpose: Purpose,
    scope: &TaskScope,
) -> Result<T, EvaluatorError> {
    let made = match &judged {
        Ok(verdict) => calls(verdict),
        Err(error) => &error.calls,
    };
    call::record(made, purpose, scope);
    judged.map_err(JudgeError::of_evaluator)
}
