use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use evals_models::{ChatModel, ChatRequest, ModelIdentity};

use super::examiner::{Examiner, Material};
use super::{Judge, JudgeError, Judged, Verdict};
use crate::{Prompt, PromptError};

/// Lets a language model decide.
///
/// The model is shown question, reference and answer between delimiters that none of them can contain, and is held to a
/// JSON object of `reason` and `pass` where its server can do that. A reply that holds no verdict is sent back once with
/// the complaint; a reply that is cut is asked for once more with twice the budget. After that the answer counts as not
/// judged.
#[derive(Debug, Clone)]
pub struct ChatJudge(Examiner);

impl ChatJudge {
    /// Asks `model` with the bundled prompt, within the budget of tokens that the model is set to.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self(Examiner::new(model, Prompt::judge()))
    }

    /// Uses another prompt; [`Prompt::judge`] says which values it may name.
    #[must_use]
    pub fn prompt(self, prompt: Prompt) -> Self {
        Self(Examiner { prompt, ..self.0 })
    }

    /// Limits the tokens of a reply, reasoning included.
    #[must_use]
    pub fn max_tokens(self, max_tokens: NonZeroU32) -> Self {
        Self(Examiner {
            max_tokens: Some(max_tokens),
            ..self.0
        })
    }

    /// The conversation that asks for a verdict.
    ///
    /// # Errors
    ///
    /// A prompt that cannot be filled in.
    pub fn request(&self, judged: Judged<'_>) -> Result<ChatRequest, PromptError> {
        self.0.request(material(judged))
    }
}

fn material(judged: Judged<'_>) -> Material<'_> {
    Material {
        question: judged.question,
        reference: Some(judged.reference),
        answer: judged.answer,
        repeat: judged.repeat,
    }
}

#[async_trait]
impl Judge for ChatJudge {
    fn identity(&self) -> &ModelIdentity {
        self.0.model.identity()
    }

    async fn judge(&self, judged: Judged<'_>) -> Result<Verdict, JudgeError> {
        self.0.examine(material(judged)).await
    }
}
